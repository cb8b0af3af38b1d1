import { Fragment, type ReactNode } from 'react';

/** One thing of a document under another. */
export type Block =
  | { kind: 'heading'; level: number; text: string; id: string }
  | { kind: 'text'; text: string }
  | { kind: 'list'; isNumbered: boolean; items: string[] }
  | { kind: 'table'; head: string[]; rows: string[][] }
  | { kind: 'code'; text: string };

/** As links name a heading: `docs/wire-rules.md#dropped-events`. */
const idOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/\s/g, '-');

const itemPattern = /^(?:- |(\d+)\. )(.*)$/;

/** Reads what our own documents are written in: headings, paragraphs, lists, tables, fenced code. */
export function readMarkdown(source: string): Block[] {
  const blocks: Block[] = [];
  const lines = source.replace(/<!--[\s\S]*?-->/g, '').split('\n');
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const take = (belongs: (line: string) => boolean) => {
      const taken: string[] = [];
      while (at < lines.length && belongs(lines[at] ?? '')) taken.push(lines[at++] ?? '');
      return taken;
    };
    const [, marks, title] = /^(#+) (.*)$/.exec(line) ?? [];
    if (line.trim() === '') at += 1;
    else if (marks !== undefined && title !== undefined) {
      blocks.push({ kind: 'heading', level: marks.length, text: title, id: idOf(title) });
      at += 1;
    } else if (line.startsWith('```')) {
      at += 1;
      blocks.push({ kind: 'code', text: take((one) => !one.startsWith('```')).join('\n') });
      at += 1;
    } else if (line.startsWith('|')) {
      const [head = [], , ...rows] = take((one) => one.startsWith('|')).map(cellsOf);
      blocks.push({ kind: 'table', head, rows });
    } else if (itemPattern.test(line)) {
      const taken = take((one) => itemPattern.test(one) || /^\s+\S/.test(one));
      blocks.push({ kind: 'list', isNumbered: /^\d/.test(line), items: itemsOf(taken) });
    } else {
      blocks.push({ kind: 'text', text: take((one) => one.trim() !== '' && !/^(#|\||```)/.test(one)).join(' ') });
    }
  }
  return blocks;
}

const cellsOf = (line: string) =>
  line
    .replace(/^\|\s*|\s*\|\s*$/g, '')
    .split(/\s*(?<!\\)\|\s*/)
    .map((cell) => cell.replaceAll('\\|', '|'));

/** A line that is indented goes on with the item before. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = [];
  for (const line of lines) {
    const item = itemPattern.exec(line)?.[2];
    if (item === undefined) items.push(`${items.pop() ?? ''} ${line.trim()}`);
    else items.push(item);
  }
  return items;
}

const inline = /`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Code, strong words and links within a line. @param addressOf undefined = it leads nowhere here, and is only text */
export function Line({ text, addressOf }: { text: string; addressOf: (target: string) => string | undefined }) {
  const pieces: ReactNode[] = [];
  let end = 0;
  for (const found of text.matchAll(inline)) {
    const [whole, code, strong, label, target = ''] = found;
    pieces.push(text.slice(end, found.index));
    end = found.index + whole.length;
    if (code !== undefined) pieces.push(<code>{code}</code>);
    else if (strong !== undefined) pieces.push(<strong>{strong}</strong>);
    else {
      const address = addressOf(target);
      const words = <Line text={label ?? ''} addressOf={() => undefined} />;
      pieces.push(address === undefined ? words : <a href={address}>{words}</a>);
    }
  }
  pieces.push(text.slice(end));
  // biome-ignore lint/suspicious/noArrayIndexKey: a text never changes
  return pieces.map((piece, at) => <Fragment key={at}>{piece}</Fragment>);
}
