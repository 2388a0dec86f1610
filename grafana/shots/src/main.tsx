// Draws one dashboard: ?dashboard=model&server=http://127.0.0.1:9090&from=...&to=...&model=fraud
import React from 'react';
import { createRoot } from 'react-dom/client';
import { MemoryRouter } from 'react-router-dom';
import {
  colorManipulator,
  createTheme,
  DataFrame,
  dateTime,
  EventBusSrv,
  getDefaultTimeRange,
  LoadingState,
  setTimeZoneResolver,
  standardTransformers,
  standardTransformersRegistry,
  ThemeContext,
} from '@grafana/data';
import { config, setAppEvents } from '@grafana/runtime';
import {
  CustomVariable,
  EmbeddedScene,
  SceneDataNode,
  SceneDataTransformer,
  SceneGridItem,
  SceneGridLayout,
  SceneGridRow,
  SceneTimePicker,
  SceneTimeRange,
  SceneControlsSpacer,
  SceneVariableSet,
  VariableValueSelectors,
  VizPanel,
} from '@grafana/scenes';
import { GlobalStyles, PortalContainer } from '@grafana/ui';
import { initPluginTranslations } from '@grafana/i18n';
import { registerPanels, shades } from './plugins';
import { ask, Values } from './prometheus';

const asked: Values = Object.fromEntries(new URLSearchParams(location.search));
const from = dateTime(Number(asked.from) * 1000);
const to = dateTime(Number(asked.to) * 1000);
const range = { from, to, raw: { from: 'now-90d', to: 'now' } };
const theme = createTheme({ colors: { mode: 'light' } });

Date.now = () => to.valueOf(); // the pictures are of a fixed morning

function prepare(): void {
  config.theme2 = theme;
  config.featureToggles = {};
  setTimeZoneResolver(() => 'utc');
  setAppEvents(new EventBusSrv());
  const { mergeTransformer, organizeFieldsTransformer } = standardTransformers;
  standardTransformersRegistry.setInit(() =>
    [mergeTransformer, organizeFieldsTransformer].map((one) => ({ id: one.id, name: one.name, transformation: one, editor: () => null }) as never)
  );
  registerPanels();
}

async function panelOf(panel: any): Promise<VizPanel> {
  const width = (panel.gridPos.w / 24) * window.innerWidth;
  let series: DataFrame[] = [];
  let error: { message: string } | undefined;
  try {
    const answers = panel.targets.map((target: any) =>
      ask(asked.server, target, asked, range, Math.round(width), panel.interval ?? '15s')
    );
    series = (await Promise.all(answers)).flat();
  } catch (problem) {
    error = { message: String(problem) };
  }
  const state = error ? LoadingState.Error : LoadingState.Done;
  const node = new SceneDataNode({
    data: { series, state, timeRange: range as never, errors: error && [error] },
  });
  const $data = panel.transformations
    ? new SceneDataTransformer({ $data: node, transformations: panel.transformations })
    : node;
  const { title, description, options, fieldConfig } = panel;
  return new VizPanel({ pluginId: panel.type, title, description, options, fieldConfig, $data });
}

async function itemOf(panel: any): Promise<SceneGridItem | SceneGridRow> {
  const { x, y, w: width, h: height } = panel.gridPos;
  if (panel.type === 'row') {
    return new SceneGridRow({ title: panel.title, y, isCollapsible: true, children: [] });
  }
  return new SceneGridItem({ x, y, width, height, body: await panelOf(panel) });
}

const SIX_HOURS = 6 * 3600 * 1000; // longer than the step of any query here

/** Shade what an annotation finds: neighbouring moments are one span, as in Grafana. */
async function annotate({ expr, iconColor }: any): Promise<void> {
  const target = { refId: 'A', expr, format: 'time_series', instant: false, legendFormat: '' };
  const step = 3600 * 1000;
  const color = colorManipulator.alpha(theme.visualization.getColorByName(iconColor), 0.08);
  for (const { fields } of await ask(asked.server, target, asked, range, window.innerWidth, '1h')) {
    for (const time of fields[0].values) {
      const last = shades.at(-1);
      if (last && time - last.end <= SIX_HOURS) {
        last.end = Math.max(last.end, time);
      } else {
        shades.push({ start: time, end: time, color });
      }
    }
  }
}

function choices(dashboard: any): SceneVariableSet {
  const visible = dashboard.templating.list.filter(({ type }: any) => type !== 'constant');
  const variables = visible.map(({ name, label, multi }: any) => {
    const value = name === 'datasource' ? 'prometheus' : (asked[name] ?? '').replace('.+', 'All');
    return new CustomVariable({ name, label, query: value, value, text: value });
  });
  return new SceneVariableSet({ variables });
}

async function main(): Promise<void> {
  await initPluginTranslations('grafana').catch(() => undefined);
  prepare();
  const dashboard = await (await fetch(`${asked.dashboard}.json`)).json();
  await Promise.all((dashboard.annotations.list ?? []).map(annotate));
  const children = await Promise.all(dashboard.panels.map(itemOf));
  const scene = new EmbeddedScene({
    $timeRange: new SceneTimeRange({ from: from.toISOString(), to: to.toISOString(), timeZone: 'utc' }),
    $variables: choices(dashboard),
    controls: [
      new VariableValueSelectors({}),
      new SceneControlsSpacer(),
      new SceneTimePicker({ isOnCanvas: true }),
    ],
    body: new SceneGridLayout({ children, isLazy: false }),
  });
  createRoot(document.getElementById('root')!).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <MemoryRouter>
        <div style={{ background: theme.colors.background.canvas, padding: 16, minHeight: '100vh' }}>
          <h3>{dashboard.title}</h3>
          <scene.Component model={scene} />
        </div>
        <PortalContainer />
      </MemoryRouter>
    </ThemeContext.Provider>
  );
}

main().catch((problem) => {
  document.body.textContent = `failed: ${problem.stack ?? problem}`;
});
