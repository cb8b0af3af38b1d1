// SQL insights in their stored format: a query, and the display settings of its result.

import { ApiProblem } from '../api/request.ts';
import { type Fields, isFields, toFields } from '../results/insight-query.ts';

export interface SqlSource extends Fields {
  kind: 'HogQLQuery';
  query: string;
}

/** An SQL insight. Fields that the console does not recognize are preserved. */
export interface SqlNode extends Fields {
  kind: 'DataVisualizationNode';
  source: SqlSource;
  /**
   * `ActionsTable`, `ActionsLineGraph`, `ActionsBar`, `BoldNumber`, or another display type, which the console replaces
   * with one of these.
   */
  display?: string;
  /** The chart's columns: `xAxis`, `yAxis` and `seriesBreakdownColumn`. */
  chartSettings?: unknown;
}

export const createSqlNode = (query: string): SqlNode => ({
  kind: 'DataVisualizationNode',
  source: { kind: 'HogQLQuery', query },
});

/** Reads an SQL insight. @returns null for other insights */
export function readSqlNode(query: unknown): SqlNode | null {
  const { kind, source, ...more } = toFields(query);
  if (isSource(query)) return { kind: 'DataVisualizationNode', source: query };
  if (typeof kind !== 'string' || !/^(DataVisualizationNode|DataTableNode)$/.test(kind) || !isSource(source))
    return null;
  return kind === 'DataTableNode'
    ? { kind: 'DataVisualizationNode', source, display: 'ActionsTable' }
    : { ...more, kind: 'DataVisualizationNode', source };
}

const isSource = (value: unknown): value is SqlSource =>
  isFields(value) && value.kind === 'HogQLQuery' && typeof value.query === 'string';

export type Display = 'ActionsTable' | 'ActionsLineGraph' | 'ActionsBar' | 'BoldNumber';

export function getDisplay({ display }: SqlNode): Display {
  switch (display) {
    case 'ActionsLineGraph':
    case 'ActionsAreaGraph':
      return 'ActionsLineGraph';
    case 'ActionsBar':
    case 'ActionsStackedBar':
      return 'ActionsBar';
    case 'BoldNumber':
      return 'BoldNumber';
    default:
      return 'ActionsTable';
  }
}

/** Returns whether a query contains `{filters}`, the placeholder for the date range and the filters. */
export const usesFilters = ({ source }: SqlNode) => /\{\s*filters\b/.test(source.query);

const placeholders = /\{\s*variables\s*\.\s*(?:`([^`]+)`|"([^"]+)"|([\p{L}\p{N}_$]+))\s*\}/gu;

export const findVariableNames = (query: string): string[] => [
  ...new Set([...query.matchAll(placeholders)].map(([, first, second, third]) => first ?? second ?? third ?? '')),
];

export interface VariableProblem {
  name: string;
  message: string;
}

/** Finds the variable that caused an error. @returns null for other errors */
export function findVariableProblem(error: unknown): VariableProblem | null {
  if (!(error instanceof ApiProblem)) return null;
  // Matches an error whose path contains a variable's ID, and whose message begins with the variable's code name.
  const [, message, name] = /^variables\..+?\.value: ((\S+) is of the type [\s\S]+)$/.exec(error.message) ?? [];
  return message === undefined || name === undefined ? null : { name, message };
}
