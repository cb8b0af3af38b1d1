// Formats a report as a Slack message in Block Kit, with fallback text for clients that do not support blocks.

import type { ReportedInsight } from './content.ts';
import { type ReportMessage, renderText } from './mail.ts';
import { formatFigure, formatFigureChange, formatRange } from './text.ts';

/** Slack's maximum header length in characters. */
const longestHeader = 150;
const longestText = 2900;
const maxFiguresShown = 6;

/**
 * Formats a report as the blocks of a Slack message.
 * @param pictureOf returns the URL from which Slack can load a picture, or null if there is no such URL
 */
export function buildSlackBlocks(
  message: ReportMessage,
  pictureOf: (insight: ReportedInsight, at: number) => string | null,
): { text: string; blocks: object[] } {
  const { title, link, invite, end, summary, content } = message;
  const insights = content?.insights ?? [];
  const lines = [invite?.message ?? null, end].filter((one) => one !== null);
  const more =
    content !== null && content.total > insights.length
      ? ` It contains ${insights.length} of the ${content.total} insights on this dashboard.`
      : '';
  return {
    text: escaped(renderText(message)),
    blocks: [
      ...lines.map((text) => section(escaped(text))),
      { type: 'header', text: { type: 'plain_text', text: title.slice(0, longestHeader) } },
      ...insights.flatMap((insight, at) => insightBlocks(message, insight, pictureOf(insight, at))),
      ...(link === null
        ? []
        : [
            {
              type: 'actions',
              elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open in Millrace' }, url: link }],
            },
          ]),
      ...(end === null ? [context(`This report is ${summary}.${more}`)] : []),
    ],
  };
}

function insightBlocks(message: ReportMessage, insight: ReportedInsight, picture: string | null): object[] {
  const { name, figures, error, left_out: omitted } = insight;
  const link = message.linkOf(insight);
  const title = link === null ? `*${escaped(name)}*` : `*<${link}|${escaped(name)}>*`;
  const range = formatRange(insight);
  const lines = error !== null ? [`No results: ${escaped(error)}`] : figures.slice(0, maxFiguresShown).map(figureLine);
  const more = figures.length + omitted.figures - maxFiguresShown;
  const text = [title, ...(range === '' ? [] : [range]), ...lines, ...(more > 0 ? [`… and ${more} more`] : [])];
  return [
    section(text.join('\n')),
    ...(picture === null ? [] : [{ type: 'image', image_url: picture, alt_text: name.slice(0, longestHeader) }]),
  ];
}

function figureLine(figure: ReportedInsight['figures'][number]): string {
  const change = figure.before === null ? '' : ` (${formatFigureChange(figure)})`;
  return `${escaped(figure.label)}: *${formatFigure(figure)}*${change}`;
}

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text: text.slice(0, longestText) } });
const context = (text: string) => ({ type: 'context', elements: [{ type: 'mrkdwn', text }] });

/**
 * Escapes text for Slack's markup, which is also used in the fallback text. Without escaping, `<!channel>` would notify
 * everyone.
 */
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
