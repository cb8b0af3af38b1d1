export interface Registration {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: string[];
}

const call = /metrics\??\.(counter|gauge|histogram)\(/g;
/** Gauges of one file that differ only in these: rows of a table. */
const gaugeRow = /\[\s*('millrace_\w+'),\s*('[^']*'|"[^"]*"),/g;

/**
 * The metrics a source file registers, read from its text: registering them for real needs servers. Only literal names
 * and helps can be read; anything else is an error, so that no metric is missing in the documents.
 *
 * @throws Error naming the file.
 */
export function readRegistrations(source: string, path: string): Registration[] {
  const found: Registration[] = [...source.matchAll(gaugeRow)].map(([, name = '', help = '']) => ({
    name: unquoted(name),
    type: 'gauge',
    help: unquoted(help),
    labels: [],
  }));
  const hasRows = found.length > 0;
  for (const match of source.matchAll(call)) {
    const type = match[1] as Registration['type'];
    const parts = splitArguments(source, match.index + match[0].length);
    const [name = '', help = ''] = parts;
    if (!isQuoted(name) || !isQuoted(help)) {
      if (hasRows) continue;
      throw new Error(`${path}: a metric whose name or help is no literal: ${name.slice(0, 60)}`);
    }
    found.push({ name: unquoted(name), type, help: unquoted(help), labels: labelsOf(type, parts, source) });
  }
  return found;
}

function labelsOf(type: Registration['type'], parts: string[], source: string): string[] {
  const given = parts[type === 'histogram' ? 3 : 2] ?? '';
  const list = /^\w+$/.test(given) ? (new RegExp(`const ${given} = (\\[[^\\]]*\\])`).exec(source)?.[1] ?? '') : given;
  return [...list.matchAll(/'([^']+)'/g)].map(([, label = '']) => label);
}

/** The arguments of a call, as written, from behind its opening parenthesis. */
function splitArguments(source: string, from: number): string[] {
  const parts = [''];
  let depth = 0;
  let quote = '';
  for (const character of source.slice(from)) {
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (`'"\``.includes(character)) quote = character;
    else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) {
      if (depth === 0) break;
      depth--;
    } else if (character === ',' && depth === 0) {
      parts.push('');
      continue;
    }
    parts.push(`${parts.pop()}${character}`);
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function isQuoted(text: string): boolean {
  return /^(['"`])[\s\S]*\1$/.test(text);
}

function unquoted(text: string): string {
  return text.slice(1, -1);
}
