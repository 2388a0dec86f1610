// Asks Prometheus what a panel asks, and turns the answers into data frames as Grafana does.
import { DataFrame, FieldType, rangeUtil, TimeRange, toDataFrame } from '@grafana/data';

export interface Target {
  refId: string;
  expr: string;
  format: string;
  instant: boolean;
  legendFormat: string;
}

interface Series {
  metric: Record<string, string>;
  values?: Array<[number, string]>;
  value?: [number, string];
}

export type Values = Record<string, string>;

/** Put the chosen values in the place of $variables. */
export function interpolate(text: string, values: Values): string {
  return text.replace(/\$(\w+)/g, (whole, name) => values[name] ?? whole);
}

/** Run one query of a panel. */
export async function ask(
  server: string,
  target: Target,
  values: Values,
  range: TimeRange,
  width: number,
  lowest: string
): Promise<DataFrame[]> {
  const { interval } = rangeUtil.calculateInterval(range, width, lowest);
  const step = rangeUtil.intervalToSeconds(interval);
  const end = range.to.unix();
  const query = interpolate(target.expr, values);
  const parameters: Record<string, string> = target.instant
    ? { query, time: String(end) }
    : {
        query,
        step: String(step),
        start: String(Math.floor(range.from.unix() / step) * step),
        end: String(Math.floor(end / step) * step),
      };
  const path = target.instant ? 'query' : 'query_range';
  const answer = await fetch(`${server}/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const { data, error } = await answer.json();
  if (error) {
    throw new Error(`${query}: ${error}`);
  }
  const found: Series[] = data.result;
  return target.format === 'table' ? [table(found, target)] : found.map((one) => series(one, target));
}

function series({ metric, values, value }: Series, target: Target): DataFrame {
  const points = values ?? [value!];
  const name = target.legendFormat.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => metric[label] ?? label);
  return toDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: points.map((point) => point[0] * 1000) },
      {
        name: 'Value',
        type: FieldType.number,
        labels: metric,
        config: { displayNameFromDS: name },
        values: points.map((point) => Number(point[1])),
      },
    ],
  });
}

function table(found: Series[], target: Target): DataFrame {
  const labels = [...new Set(found.flatMap((one) => Object.keys(one.metric)))].sort();
  return toDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: found.map((one) => one.value![0] * 1000) },
      ...labels.map((label) => ({
        name: label,
        type: FieldType.string,
        values: found.map((one) => one.metric[label]),
      })),
      {
        name: `Value #${target.refId}`,
        type: FieldType.number,
        values: found.map((one) => Number(one.value![1])),
      },
    ],
  });
}
