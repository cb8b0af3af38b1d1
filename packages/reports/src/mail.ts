// Formats a report as an email: HTML with pictures, and the same content as plain text.

import { computeChange, formatDuration, formatPercent, formatValue, isGoodChange } from '@millrace/contracts/numbers';
import { type Logger, quoteMessage, toPlainName } from '@millrace/runtime';
import type { ReportContent, ReportedInsight } from './content.ts';
import type { Figure } from './figures.ts';
import { drawInsight, toPng } from './picture.ts';
import { formatFigure, formatFigureChange, formatRange, formatWeekday } from './text.ts';

export interface ReportMessage {
  title: string;
  /** The schedule in words, for example `sent every week`. */
  summary: string;
  nextAt: Date | null;
  /** The link to the insight or dashboard, or null if no application URL is configured. */
  link: string | null;
  linkOf(insight: ReportedInsight): string | null;
  /**
   * Verified email address of the user who subscribed the recipient, and that user's message. Null except in the first
   * report.
   */
  invite: { by: string | null; message: string | null } | null;
  /** Why this report is the last one, or null if more reports will follow. */
  end: string | null;
  /** The link for unsubscribing from the emails, or null if there is no such link. */
  unsubscribe: string | null;
  /** The report's content, or null if the message contains no numbers. */
  content: ReportContent | null;
}

export interface ReportMail {
  subject: string;
  html: string;
  text: string;
  attachments: { cid: string; filename: string; contentType: string; content: Buffer }[];
  headers: Record<string, string>;
}

const maxRowsShown = 10;

/** Formats the email. If a picture cannot be drawn, logs the error and uses the name and the numbers instead. */
export async function buildReportMail(written: ReportMessage, logger: Pick<Logger, 'warn'>): Promise<ReportMail> {
  const message = withPlainNames(written);
  const attachments: ReportMail['attachments'] = [];
  for (const insight of message.content?.insights ?? []) {
    const svg = drawInsight(insight);
    if (svg === null) continue;
    const content = await toPng(svg).catch((error: unknown) => {
      logger.warn('could not draw a report picture', { insightId: insight.id, error });
      return null;
    });
    if (content === null) continue;
    const filename = `insight-${insight.id}.png`;
    attachments.push({ cid: cidOf(insight), filename, contentType: 'image/png', content });
  }
  const pictured = new Set(attachments.map(({ cid }) => cid));
  const { title: subject, unsubscribe } = message;
  // Email clients show their own unsubscribe button for this header (RFC 8058).
  const headers: Record<string, string> =
    unsubscribe === null
      ? {}
      : { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
  return { subject, html: htmlOf(message, pictured), text: renderText(message), attachments, headers };
}

/**
 * Removes links from names. Members of the project choose titles and names, and reports are sent to any address, so
 * names could be abused for spam.
 */
function withPlainNames(message: ReportMessage): ReportMessage {
  const { content, title } = message;
  const named = <T extends { name: string; description: string }>(one: T): T => ({
    ...one,
    name: toPlainName(one.name),
    description: one.description.replaceAll('://', ' '),
  });
  return {
    ...message,
    title: toPlainName(title),
    content: content && { ...named(content), insights: content.insights.map(named) },
  };
}

const cidOf = ({ id }: { id: number }) => `insight-${id}@millrace`;

function sentences({ summary, nextAt, invite, end, content }: ReportMessage): { before: string[]; behind: string[] } {
  const next =
    nextAt === null || end !== null
      ? ''
      : ` The next report will be sent on ${formatWeekday(nextAt, content?.timezone ?? 'UTC')}.`;
  const by = invite === null ? null : `${invite.by ?? 'A member of the project'} subscribed you to this report.`;
  const before = [by, invite?.message ? quoteMessage(invite.message) : null, end];
  const more =
    content === null || content.total <= content.insights.length
      ? null
      : `This report contains ${content.insights.length} of the ${content.total} insights on this dashboard.`;
  const none =
    content !== null && content.kind === 'dashboard' && content.total === 0
      ? 'This dashboard does not contain any insights.'
      : null;
  return {
    before: before.filter((one) => one !== null),
    behind: [more, none, end === null ? `This report is ${summary}.${next}` : null].filter((one) => one !== null),
  };
}

const unsubscribeWord = 'Unsubscribe';

export function renderText(message: ReportMessage): string {
  const { title, link, content, unsubscribe } = message;
  const { before, behind } = sentences(message);
  const insights = content?.insights ?? [];
  const parts = insights.map((insight) => insightText(insight, isWhole(content, insight)));
  const stop = unsubscribe === null ? [] : [`${unsubscribeWord}: ${unsubscribe}`];
  return [...before, title, ...parts, ...(link === null ? [] : [link]), ...behind, ...stop].join('\n\n');
}

/** Returns true if the report consists of only this insight and has its name as the title. */
const isWhole = (content: ReportContent | null, { name }: ReportedInsight) =>
  content?.kind === 'insight' && content.name === name;

function insightText(insight: ReportedInsight, isAlone: boolean): string {
  const { name, error, figures } = insight;
  const range = formatRange(insight);
  const head = [isAlone ? '' : name, range].filter((part) => part !== '').join('\n');
  if (error !== null) return [head, noNumbers(error)].filter((part) => part !== '').join('\n');
  const lines = figures.map((figure) => `${figure.label}: ${formatFigure(figure)}${againstText(figure)}`);
  return [head, ...lines, ...omittedLines(insight), ...tableLines(insight)].filter((part) => part !== '').join('\n');
}

const noNumbers = (error: string) => `No results: ${error}`;
const againstText = (figure: Figure) =>
  figure.before === null
    ? ''
    : ` (${formatFigureChange(figure)} vs. ${formatFigure({ ...figure, value: figure.before })} in the previous period)`;

function omittedLines({ left_out: { figures } }: ReportedInsight): string[] {
  return figures === 0 ? [] : [`… and ${formatValue(figures)} more`];
}

/** Returns those rows of a result that are not already shown as figures. */
function shownRows({ query_kind: kind, figures, table, left_out: omitted }: ReportedInsight) {
  if (kind === 'TrendsQuery' || kind === 'LifecycleQuery' || table.columns.length === 0) return null;
  if (kind === 'HogQLQuery' && figures.length > 0) return null;
  const rows = table.rows
    .slice(0, maxRowsShown)
    .map((row) => row.map((cell, at) => cellText(cell, table.columns[at] ?? '')));
  return {
    columns: table.columns.map((name) => name.replace(/ seconds$/, ' time')),
    rows,
    more: table.rows.length - rows.length + omitted.rows,
  };
}

/** Formats a cell. @param column the name of the column, which indicates what a number measures */
function cellText(cell: string | number | boolean | null, column: string): string {
  if (cell === null) return '';
  if (typeof cell === 'number' && column === 'percent of the first') return formatPercent(cell);
  if (typeof cell === 'number' && / ?seconds$/.test(column)) return formatDuration(cell);
  if (typeof cell === 'number') return formatValue(cell);
  const text = String(cell);
  // A time at midnight represents the entire day, so omit the time of day.
  return /^\d{4}-\d\d-\d\dT00:00:00/.test(text) ? text.slice(0, 10) : text.slice(0, 60);
}

function tableLines(insight: ReportedInsight): string[] {
  const shown = shownRows(insight);
  if (shown === null) return [];
  const all = [shown.columns, ...shown.rows];
  const widths = shown.columns.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const lines = all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return shown.more > 0 ? [...lines, `… and ${formatValue(shown.more)} more rows`] : lines;
}

const font = "font-family:Inter,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const [ink, quiet, line, accent] = ['#1b2127', '#5b6670', '#e3e7ea', '#0a6c8c'];
const [good, bad] = ['#1d7a4a', '#b3372f'];

/**
 * Formats the report as HTML with tables and inline styles, which all email clients support, and without external
 * resources.
 */
function htmlOf(message: ReportMessage, pictured: ReadonlySet<string>): string {
  const { title, link, content } = message;
  const { before, behind } = sentences(message);
  const row = (html: string, space = 16) => `<tr><td style="padding:${space}px 24px 0">${html}</td></tr>`;
  const paragraph = (text: string, colour = ink) =>
    `<p style="margin:0;${font};font-size:14px;line-height:21px;color:${colour}">${escapeHtml(text).replaceAll('\n', '<br>')}</p>`;
  const heading = `<h1 style="margin:0;${font};font-size:22px;line-height:28px;color:${ink}">${linked(title, link, ink)}</h1>`;
  const description = content?.description ? [paragraph(content.description, quiet)] : [];
  const insights = (content?.insights ?? []).map((insight) => insightHtml(message, insight, pictured));
  const button =
    link === null
      ? []
      : [
          `<a href="${escapeHtml(link)}" style="display:inline-block;background:${accent};border-radius:6px;padding:10px 18px;${font};font-size:14px;font-weight:600;color:#ffffff;text-decoration:none">Open in Millrace</a>`,
        ];
  const rows = [
    ...before.map((text) => row(paragraph(text))),
    row(heading),
    ...description.map((html) => row(html, 6)),
    ...insights.map((html) => row(html, 24)),
    ...button.map((html) => row(html, 24)),
    ...behind.map((text) => row(paragraph(text, quiet), 16)),
    ...(message.unsubscribe === null ? [] : [row(stopHtml(message.unsubscribe), 16)]),
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:0;background:#f3f5f6">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f3f5f6"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="640" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:640px;background:#ffffff;border-radius:8px">
${rows.join('\n')}
<tr><td style="padding:0 0 24px"></td></tr>
</table></td></tr></table></body></html>
`;
}

const stopHtml = (address: string) =>
  `<p style="margin:0;${font};font-size:12px;line-height:18px"><a href="${escapeHtml(address)}" style="color:${quiet}">${unsubscribeWord}</a></p>`;

function insightHtml(message: ReportMessage, insight: ReportedInsight, pictured: ReadonlySet<string>): string {
  const { name, error } = insight;
  const link = message.linkOf(insight);
  const range = formatRange(insight);
  const hasPicture = pictured.has(cidOf(insight));
  const title = `${name}${range === '' ? '' : `, ${range}`}`;
  // Do not repeat the name and the range, which the picture contains. Its alternative text is for readers who do not
  // see pictures.
  const head = hasPicture
    ? linkedHtml(
        `<img src="cid:${cidOf(insight)}" width="592" alt="${escapeHtml(title)}" style="display:block;width:100%;max-width:592px;height:auto;border:1px solid ${line};border-radius:6px;${font};font-size:14px;color:${ink}">`,
        link,
      )
    : `<h2 style="margin:0;${font};font-size:16px;line-height:22px;color:${ink}">${linked(name, link, ink)}</h2>${
        range === '' ? '' : `<p style="margin:2px 0 0;${font};font-size:12px;color:${quiet}">${escapeHtml(range)}</p>`
      }`;
  if (error !== null) {
    return `${head}<p style="margin:8px 0 0;padding:10px 12px;background:#f8ecea;border-radius:6px;${font};font-size:14px;line-height:20px;color:#8f2a23">${escapeHtml(noNumbers(error))}</p>`;
  }
  return `${head}${figuresHtml(insight)}${rowsHtml(insight)}`;
}

function figuresHtml({ figures, left_out: omitted }: ReportedInsight): string {
  if (figures.length === 0) return '';
  const isCompared = figures.some(({ before }) => before !== null);
  const head = ['', 'Current', ...(isCompared ? ['Previous period', 'Change'] : [])];
  const rows = figures.map((figure) => [
    figure.label,
    formatFigure(figure),
    ...(isCompared
      ? [figure.before === null ? '–' : formatFigure({ ...figure, value: figure.before }), formatFigureChange(figure)]
      : []),
  ]);
  const more = omitted.figures === 0 ? null : `… and ${formatValue(omitted.figures)} more`;
  return tableHtml(head, rows, { more, colorsOfLast: figures.map(colorOfChange) });
}

function rowsHtml(insight: ReportedInsight): string {
  const shown = shownRows(insight);
  if (shown === null) return '';
  return tableHtml(shown.columns, shown.rows, {
    more: shown.more > 0 ? `… and ${formatValue(shown.more)} more rows` : null,
  });
}

function colorOfChange({ value, before, format }: Figure): string {
  const isGood = isGoodChange(computeChange(value, before, format), format);
  return isGood === null ? ink : isGood ? good : bad;
}

/** Matches the suffix of a formatted number. */
const unit = / (points|on average)$/;

/** Formats a table as HTML. @param colorsOfLast the color of the last cell of each row */
function tableHtml(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { more, colorsOfLast = [] }: { more: string | null; colorsOfLast?: readonly string[] },
): string {
  const isText = head.map(
    (_, at) => at === 0 || rows.some((cells) => /\p{L}/u.test((cells[at] ?? '').replace(unit, ''))),
  );
  const cell = (tag: 'th' | 'td', text: string, { at, color }: { at: number; color: string }) =>
    `<${tag} align="${isText[at] ? 'left' : 'right'}" style="padding:6px 8px;border-bottom:1px solid ${line};${font};font-size:13px;font-weight:${tag === 'th' ? 600 : 400};color:${color}">${escapeHtml(text)}</${tag}>`;
  const rowOf = (tag: 'th' | 'td', cells: readonly string[], color: string, colorOfLast = color) => {
    const colorAt = (at: number) => (at === cells.length - 1 ? colorOfLast : color);
    return `<tr>${cells.map((text, at) => cell(tag, text, { at, color: colorAt(at) })).join('')}</tr>`;
  };
  const last =
    more === null
      ? ''
      : `<tr><td colspan="${head.length}" style="padding:6px 8px;${font};font-size:13px;color:${quiet}">${escapeHtml(more)}</td></tr>`;
  return `<table width="100%" cellpadding="0" cellspacing="0" border="0" style="margin-top:8px;border-collapse:collapse">${rowOf('th', head, quiet)}${rows.map((cells, at) => rowOf('td', cells, ink, colorsOfLast[at])).join('')}${last}</table>`;
}

const linked = (text: string, link: string | null, colour: string) =>
  link === null
    ? escapeHtml(text)
    : `<a href="${escapeHtml(link)}" style="color:${colour};text-decoration:none">${escapeHtml(text)}</a>`;
const linkedHtml = (html: string, link: string | null) =>
  link === null ? html : `<a href="${escapeHtml(link)}" style="text-decoration:none">${html}</a>`;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
