// The panels. Grafana publishes the components that draw them, but not the panels themselves, so
// they are put together here: only as far as our dashboards need them.
import React from 'react';
import {
  cacheFieldDisplayNames,
  Field,
  FieldColorModeId,
  FieldConfigProperty,
  FieldType,
  getDisplayProcessor,
  getFieldDisplayName,
  getFieldDisplayValues,
  identityOverrideProcessor,
  PanelPlugin,
  PanelProps,
  standardEditorsRegistry,
  standardFieldConfigEditorRegistry,
} from '@grafana/data';
import {
  BigValue,
  TimeSeries,
  useTheme2,
  VizLayout,
  VizLegend,
  VizRepeater,
} from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import { LegendDisplayMode } from '@grafana/schema';
import { setPluginImportUtils } from '@grafana/runtime';
import type uPlot from 'uplot';

const option = (id: string, path = id, defaultValue?: unknown) => ({
  id,
  path,
  name: id,
  description: '',
  defaultValue,
  editor: () => null,
  override: () => null,
  process: identityOverrideProcessor,
  shouldApply: (field: Field) => !path.startsWith('axis') || field.type !== FieldType.time,
  settings: {},
});

const STANDARD = ['unit', 'min', 'max', 'decimals', 'displayName', 'noValue', 'color', 'thresholds'];
standardEditorsRegistry.setInit(() => []);
standardFieldConfigEditorRegistry.setInit(
  () => [...STANDARD, 'mappings', 'links', 'actions', 'filterable', 'fieldMinMax'].map((id) => option(id)) as never
);

function Nothing({ fieldConfig, width, height }: PanelProps) {
  const style = { width, height, display: 'flex', alignItems: 'center', justifyContent: 'center' };
  return <div style={style}>{fieldConfig.defaults.noValue ?? 'No data'}</div>;
}

export interface Shade {
  start: number;
  end: number;
  color: string;
}

/** What annotations shade in every panel, in the order of time. */
export const shades: Shade[] = [];

// Grafana's own drawing of annotations is not published either.
function shade(plot: uPlot): void {
  const { left, top, width, height } = plot.bbox;
  plot.ctx.save();
  for (const { start, end, color } of shades) {
    const [x, until] = [start, end].map((time) =>
      Math.min(left + width, Math.max(left, plot.valToPos(time, 'x', true)))
    );
    plot.ctx.fillStyle = color;
    plot.ctx.fillRect(x, top, until - x, height);
  }
  plot.ctx.restore();
}

function Lines(props: PanelProps) {
  const { data, width, height, timeRange, timeZone, options } = props;
  if (!data.series.length) {
    return <Nothing {...props} />;
  }
  return (
    <TimeSeries
      frames={data.series}
      structureRev={data.structureRev}
      legend={options.legend}
      {...{ width, height, timeRange, timeZone, options }}
    >
      {(config) => {
        config.addHook('drawClear', shade);
        return null;
      }}
    </TimeSeries>
  );
}

function Numbers(props: PanelProps) {
  const { data, options, fieldConfig, width, height, replaceVariables, timeZone } = props;
  const theme = useTheme2();
  const given = { fieldConfig, data: data.series, reduceOptions: options.reduceOptions };
  const values = () => getFieldDisplayValues({ ...given, replaceVariables, theme, timeZone });
  const seen = (value: ReturnType<typeof values>[0], size: { width: number; height: number }) => (
    <BigValue value={value.display} {...size} {...options} theme={theme} count={values().length} />
  );
  return (
    <VizRepeater
      getValues={values}
      renderValue={({ value, width, height }) => seen(value, { width, height })}
      orientation={options.orientation}
      source={data}
      autoGrid={true}
      {...{ width, height }}
    />
  );
}

// Grafana's own state timeline is not published; this one is drawn to look like it.
function Timeline(props: PanelProps) {
  const { data, width, height, timeRange } = props;
  const theme = useTheme2();
  const found = data.series.map((frame) => frame.fields.find((f) => f.type === FieldType.number)!);
  if (!found.length) {
    return <Nothing {...props} />;
  }
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const seen = new Map<string, string>();
  const rows = data.series.map((frame, row) => {
    const times = frame.fields[0].values;
    const show = found[row].display ?? getDisplayProcessor({ field: found[row], theme });
    const spans: Array<{ start: number; end: number; text: string; color: string }> = [];
    found[row].values.forEach((value, place) => {
      const { text, color = 'grey' } = show(value);
      const end = Math.min(to, times[place + 1] ?? times[place] + (times[1] - times[0]));
      const last = spans.at(-1);
      seen.set(text, color);
      if (last && last.text === text) {
        last.end = end;
      } else {
        spans.push({ start: times[place], end, text, color });
      }
    });
    return { name: getFieldDisplayName(found[row], frame, data.series), spans };
  });
  const gutter = 16 + 6.5 * Math.max(...rows.map(({ name }) => name.length));
  const items = [...seen].map(([label, color]) => ({ label, color, yAxis: 1 }));
  const legend = (
    <VizLayout.Legend placement="bottom">
      <VizLegend placement="bottom" items={items} displayMode={LegendDisplayMode.List} />
    </VizLayout.Legend>
  );
  return (
    <VizLayout width={width} height={height} legend={legend}>
      {(w: number, h: number) => {
        const x = (time: number) => gutter + ((time - from) / (to - from)) * (w - gutter - 8);
        const tall = (h - 22) / rows.length;
        const font = { fontSize: 12, fontFamily: theme.typography.fontFamily };
        const days = Array.from({ length: 12 }, (_, k) => from + ((k + 0.5) / 12) * (to - from));
        return (
          <svg width={w} height={h} style={font}>
            {days.map((t) => (
              <text key={t} x={x(t)} y={h - 5} fill={theme.colors.text.primary} textAnchor="middle">
                {new Date(t).toISOString().slice(5, 10).replace('-', '/')}
              </text>
            ))}
            {rows.map(({ name, spans }, row) => (
              <g key={name} transform={`translate(0 ${row * tall})`}>
                <text x={gutter - 8} y={tall / 2 + 4} fill={theme.colors.text.primary} textAnchor="end">
                  {name}
                </text>
                {spans.map(({ start, end, text, color }) => (
                  <g key={start}>
                    <rect x={x(start)} width={x(end) - x(start)} y={tall * 0.1} height={tall * 0.8} fill={color} opacity={0.8} />
                    {x(end) - x(start) > 10 + 7 * text.length && (
                      <text x={x(start) + 5} y={tall / 2 + 4} fill={theme.colors.getContrastText(color)}>
                        {text}
                      </text>
                    )}
                  </g>
                ))}
              </g>
            ))}
          </svg>
        );
      }}
    </VizLayout>
  );
}

function Rows(props: PanelProps) {
  const { data, width, height, options, fieldConfig } = props;
  if (!data.series.length) {
    return <Nothing {...props} />;
  }
  cacheFieldDisplayNames(data.series);
  return (
    <TableNG
      data={data.series[0]}
      initialSortBy={options.sortBy}
      structureRev={data.structureRev}
      {...{ width, height, fieldConfig }}
    />
  );
}

const CUSTOM = [
  'drawStyle lineInterpolation lineWidth fillOpacity lineStyle gradientMode showPoints pointSize',
  'fillBelowTo stacking thresholdsStyle hideFrom spanNulls insertNulls lineColor fillColor pointColor',
  'axisPlacement axisLabel axisColorMode axisSoftMin axisSoftMax axisCenteredZero axisGridShow',
  'axisWidth scaleDistribution barAlignment barWidthFactor transform axisBorderShow',
  'align cellOptions width minWidth filterable inspect hidden',
].flatMap((names) => names.split(' '));
const DEFAULTS: Record<string, unknown> = {
  drawStyle: 'line',
  lineInterpolation: 'linear',
  axisPlacement: 'auto',
  scaleDistribution: { type: 'linear' },
  hideFrom: { legend: false, tooltip: false, viz: false },
  axisGridShow: true,
  pointSize: 5,
  gradientMode: 'none',
  cellOptions: { type: 'auto' },
  align: 'auto',
};

const KINDS = {
  timeseries: [Lines, FieldColorModeId.PaletteClassic],
  stat: [Numbers, FieldColorModeId.Thresholds],
  'state-timeline': [Timeline, FieldColorModeId.ContinuousGrYlRd],
  table: [Rows, FieldColorModeId.Thresholds],
} as const;

/** Make the panels known to the scenes. */
export function registerPanels(): void {
  const known: Record<string, PanelPlugin> = {};
  for (const [pluginId, [component, mode]] of Object.entries(KINDS)) {
    const plugin = new PanelPlugin(component as React.ComponentType<PanelProps>);
    plugin.meta = { id: pluginId, name: pluginId, info: { version: '1' } } as never;
    plugin.useFieldConfig({
      standardOptions: { [FieldConfigProperty.Color]: { defaultValue: { mode } } },
      useCustomConfig: (builder) => {
        for (const name of CUSTOM) {
          builder.addCustomEditor(option(name, name, DEFAULTS[name]) as never);
        }
      },
    });
    known[pluginId] = plugin;
  }
  setPluginImportUtils({
    importPanelPlugin: async (id) => known[id],
    getPanelPluginFromCache: (id) => known[id],
  });
}
