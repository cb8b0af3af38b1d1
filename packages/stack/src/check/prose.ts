import jsTokens from 'js-tokens';
import { readRepositoryTexts, readSourceFiles } from '../docs/documents.ts';

/** Phrases that readers had to read twice, each with advice on what to write instead. */
const habits: readonly { pattern: RegExp; advice: string }[] = [
  { pattern: /\bwhoever\b/i, advice: 'name the subject: the user, the client, any request that …' },
  { pattern: /\b(?:no|some)body\b/i, advice: 'name the role: no user, another administrator, a client' },
  { pattern: /(?<=^|[.:;!] |\n)Who(?:se)? [^.?!]*[.!](?= |\n|$)/, advice: 'start with a noun: "Users who …"' },
  { pattern: /(?<=^|[.!] |\n)What (?!follows)[^.?!:\n]* is [^.?!:\n]*\.(?= |\n|$)/, advice: 'start with a noun' },
  { pattern: /\b(?:is|are|was|were|be) (?:told(?! apart)|asked)\b/i, advice: 'say who does it: "Millrace reports …"' },
  { pattern: /\bbehind (?:the|its|a) request\b/i, advice: 'in the background' },
  { pattern: /(?<!\bif )\bthere (?:is|are|was|were) none\b/i, advice: '"does not have …", "no X exists"' },
  { pattern: /\bbut for\b/i, advice: 'except' },
  { pattern: /\bof (?:theirs|its own accord)\b/i, advice: 'their own' },
  { pattern: /\bby (?:itself|themselves)\b/i, advice: 'automatically, alone' },
  { pattern: /\bbeside\b/i, advice: 'next to, in addition to' },
  { pattern: /(?<!\bthere )\b(?:is|are) no (?!(?:longer|more|less|other|different|need)\b|$)/i, advice: 'is not a …' },
  {
    pattern: /(?<!dead[- ]|(?:case|width|small|capital|cover)[ -])\bletters\b(?!-| (?:and|or|are|in|from|to)\b|,)/i,
    advice: 'dead letters',
  },
];

interface Passage {
  line: number;
  text: string;
}

/** Files that are not documents, but contain text that people read. */
const areas: readonly { folders: string[]; endings: string[]; read: (source: string, path: string) => Passage[] }[] = [
  { folders: ['packages', 'services'], endings: ['README.md'], read: proseOfMarkdown },
  { folders: ['packages', 'services'], endings: ['.ts', '.tsx'], read: textsOfProgram },
  { folders: ['packages', 'services', 'test-e2e'], endings: ['.test.ts', '.test.tsx'], read: titlesOfTests },
  { folders: ['deploy'], endings: ['.tpl', '.yaml', '.yml', '.txt'], read: everyLine },
];

/**
 * Finds phrases to avoid in documents, program output, test titles and the Helm chart. Returns one line for each phrase
 * found.
 */
export async function findProseProblems(root: string): Promise<string[]> {
  const files = await Promise.all(
    areas.map(async ({ folders, endings, read }) =>
      (await readSourceFiles(root, folders, endings)).map((file) => ({ ...file, read })),
    ),
  );
  const { pages } = await readRepositoryTexts(root);
  return [...pages.map((page) => ({ ...page, read: proseOfMarkdown })), ...files.flat()]
    .filter(
      ({ path, read }) => read === titlesOfTests || !/\.test\.tsx?$|\/testing?\/|\/tests\/|\/prose\.ts$/.test(path),
    )
    .flatMap(({ path, text, read }) => read(text, path).flatMap((passage) => problemsOf(path, passage)));
}

function problemsOf(path: string, { line, text }: Passage): string[] {
  return habits.flatMap(({ pattern, advice }) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [`${path}:${line}: "${found.slice(0, 60)}": ${advice}`];
  });
}

/** Splits Markdown into paragraphs, list items and table rows, and omits code. */
function proseOfMarkdown(source: string): Passage[] {
  const prose = source
    .replace(/^ *```[\s\S]*?^ *```/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, '`…`');
  const passages: Passage[] = [];
  let isInParagraph = false;
  for (const [index, text] of prose.split('\n').entries()) {
    const last = passages.at(-1);
    if (isInParagraph && last && !/^\s*([#>|*-]|\d+\.)/.test(text)) last.text += ` ${text.trim()}`;
    else passages.push({ line: index + 1, text: text.replace(/^[\s#>|*-]+/, '') });
    isInParagraph = text.trim() !== '';
  }
  return passages;
}

/** Returns a program's strings that contain phrases, its comments, and the text between JSX tags. */
function textsOfProgram(source: string, path: string): Passage[] {
  const passages: Passage[] = [];
  let line = 1;
  for (const { type, value } of jsTokens(source, { jsx: path.endsWith('.tsx') })) {
    // Remove SQL comments and quoted names.
    const text = value.replace(/^['"`}]|(?:['"`]|\$\{)$/g, '').replace(/--.*|\\?`[^`]*`/g, '');
    if (/String|Template|JSXText/.test(type) && /[a-z] [a-z]/i.test(text)) passages.push({ line, text });
    if (/Comment/.test(type)) passages.push({ line, text: textOfComment(value) });
    line += value.split('\n').length - 1;
  }
  return passages;
}

function titlesOfTests(source: string, path: string): Passage[] {
  const passages: Passage[] = [];
  let line = 1;
  let before = '';
  for (const { type, value } of jsTokens(source, { jsx: path.endsWith('.tsx') })) {
    if (/String|Template/.test(type) && /(?:\b(?:it|test|describe)(?:\.\w+)?|\))\($/.test(before)) {
      passages.push({ line, text: textOfComment(value.slice(1, -1)) });
    }
    if (!/WhiteSpace|LineTerminator|Comment/.test(type)) before = (before + value).slice(-40);
    line += value.split('\n').length - 1;
  }
  return passages;
}

/** Returns a comment's text on one line, without code in backticks. */
const textOfComment = (comment: string) =>
  comment
    .replace(/`[^`]*`/g, '`…`')
    .replace(/\n\s*\*?|\/\*+|\*\/|\/\//g, ' ')
    .trim();

function everyLine(source: string): Passage[] {
  return source.split('\n').map((text, index) => ({ line: index + 1, text: text.replace(/^[\s#]+/, '') }));
}
