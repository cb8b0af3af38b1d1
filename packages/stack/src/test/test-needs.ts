import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative } from 'node:path';

/** What tests run on, by the variable of the environment they find it in. */
export const needs = [
  ...(['DATABASE_URL', 'KAFKA_BROKERS', 'REDIS_URL', 'CHROMIUM_PATH', 'FIREFOX_PATH', 'WEBKIT_DRIVER_PATH'] as const),
  // Programs, for servers of a test's own.
  ...(['KAFKA_JARS', 'REDIS_SERVER_PATH'] as const),
  // A Chromium that keeps pages for the back button.
  ...(['KEPT_PAGES'] as const),
];
export type Need = (typeof needs)[number];

/** How a file reads that asks for it. A declaration is not a question. */
const asks: Record<Need, (text: string) => boolean> = {
  DATABASE_URL: (text) => calls('testServers', text) && /\bdatabaseUrl\b/.test(text),
  KAFKA_BROKERS: (text) => calls('testServers', text) && /\bkafkaBrokers\b/.test(text),
  REDIS_URL: (text) => calls('testServers', text) && /\bredisUrl\b/.test(text),
  KAFKA_JARS: (text) => calls('startKafkaCluster', text),
  REDIS_SERVER_PATH: (text) => calls('startOwnRedis', text),
  CHROMIUM_PATH: (text) => calls('findChromium', text),
  FIREFOX_PATH: (text) => calls('findFirefox', text),
  WEBKIT_DRIVER_PATH: (text) => calls('findWebKitDriver', text),
  KEPT_PAGES: (text) => calls('openKept', text),
};
const calls = (name: string, text: string) => new RegExp(`(?<!function )\\b${name}\\(`).test(text);

/** Files that are there for tests; what services are made of asks for nobody's test server. */
const isForTests = /\.test\.ts$|\/(?:testing|tests)\/|^test-e2e\/|^packages\/bench\//;

/** What these test files ask for, themselves or by what they import, however far away: known before any of them runs. */
export function needsOf(root: string, testFiles: readonly string[]): Set<Need> {
  const found = new Set<Need>();
  const seen = new Map<string, Module>();
  const visited = new Set<string>();
  const waiting: Import[] = testFiles.map((file) => ({ file, names: null }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { file, names } = next;
    const module = seen.get(file) ?? readModule(file);
    seen.set(file, module);
    const key = module.isBarrel && names !== null ? `${file} ${names.join()}` : file;
    if (visited.has(key)) continue;
    visited.add(key);
    if (isForTests.test(relative(root, file))) {
      for (const need of needs) if (asks[need](module.text)) found.add(need);
    }
    // Of a file that only re-exports, only the imported names count.
    const isMeant = (one: Import) =>
      !module.isBarrel || names === null || one.names === null || one.names.some((name) => names.includes(name));
    waiting.push(...module.imports.filter(isMeant));
  }
  return found;
}

interface Import {
  file: string;
  /** Null for everything. */
  names: string[] | null;
}

interface Module {
  text: string;
  imports: Import[];
  isBarrel: boolean;
}

const statement = /^(import|export)\s+(type\s)?([^'";]*?)(?:\bfrom\s*)?'([^'\n]+)';/gm;
const dynamicImport = /\bimport\('([^'\n]+)'\)/g;

function readModule(file: string): Module {
  const text = readFileSync(file, 'utf8');
  const { resolve } = createRequire(file);
  const imports: Import[] = [];
  const add = (specifier: string, names: string[] | null) => {
    if (!/^(\.|@millrace\/)/.test(specifier)) return;
    try {
      const target = resolve(specifier);
      if (/\.[cm]?[jt]s$/.test(target)) imports.push({ file: target, names });
    } catch {
      // An import in a text that is compiled elsewhere.
    }
  };
  for (const [, , isType, what = '', specifier = ''] of text.matchAll(statement)) {
    const names = namesIn(what);
    if (!isType && names?.length !== 0) add(specifier, names);
  }
  for (const [, specifier = ''] of text.matchAll(dynamicImport)) add(specifier, null);
  const rest = text.replace(statement, '').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  return { text, imports, isBarrel: rest.trim() === '' };
}

/** @returns null for all names; without types, which nothing is loaded for. */
function namesIn(what: string): string[] | null {
  const list = /\{([^}]*)\}/.exec(what)?.[1];
  if (list === undefined || /[\w*]/.test(what.slice(0, what.indexOf('{')))) return null;
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(/\s+as\s+/)[0] ?? name);
}
