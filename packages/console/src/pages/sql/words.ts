import { counted, formatNumber } from '../../words.ts';

export const text = {
  one: 'This insight',
  editor: 'SQL query',
  editorHint:
    'Ctrl+Enter runs the query. Ctrl+Space suggests names. To leave the editor with Tab, first close the suggestions with Escape.',
  placeholder: 'SELECT event, count() FROM events GROUP BY event',
  run: 'Run query',
  cancel: 'Cancel query',
  running: 'Running…',
  canceled: 'The query was canceled.',
  newQuery: 'New query',
  problemAt: (line: number, column: number, message: string) => `Line ${line}, column ${column}: ${message}`,
  failed: 'The query could not run.',
  result: 'Result',
  rows: (count: number) => counted(count, 'row'),
  took: (milliseconds: number) =>
    milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`,
  limited: (limit: number) =>
    `The result is limited to ${formatNumber(limit)} rows. Add LIMIT to the query to get up to 50,000.`,
  noRows: 'No rows',
  noRowsText: 'The query ran, but no rows match its conditions.',
  old: 'The query was changed. Run it to update the result.',
  display: 'Show as',
  displays: {
    ActionsTable: 'Table',
    ActionsLineGraph: 'Line',
    ActionsBar: 'Bar',
    BoldNumber: 'Number',
  },
  x: 'X-axis',
  y: 'Y-axis',
  by: 'Breakdown',
  noBreakdown: 'None',
  welcome: 'Ask anything with SQL',
  welcomeText:
    'Query events, persons, groups and cohorts in HogQL, the SQL dialect of PostHog. Start with an example, or type a query above.',
  examples: {
    topEvents: 'Top events',
    dailyActives: 'Daily active users',
    topPages: 'Most viewed pages',
    country: 'Users from Germany',
    persons: 'New persons by week',
  },
  unsaved: 'Not saved',
  saved: 'Saved',
  age: (ago: string) => `Updated ${ago}`,
  allDates: 'All dates',
  changed: 'Unsaved changes',
  save: 'Save',
  discard: 'Discard changes',
  badAddress: 'The query in the URL is invalid and was ignored.',
};
