// Replaces types with spaces, as Node.js 22.18 and later do, so that errors have the lines and columns of the source.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { transform } = createRequire(import.meta.url)('@swc/wasm-typescript');
const { version } = createRequire(import.meta.url)('@swc/wasm-typescript/package.json');
const cache = join(process.env.MILLRACE_CACHE_DIR, `stripped-types-${version}`);
await mkdir(cache, { recursive: true });

export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !/\.ts(?:\?|$)/.test(url)) return nextLoad(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  return { format: 'module', source: await strip(source), shortCircuit: true };
}

/** Removes types. Stores the result for all workers and later runs in a file whose name is a hash of the source. */
async function strip(source) {
  const file = join(cache, createHash('sha256').update(source).digest('hex'));
  try {
    return await readFile(file, 'utf8');
  } catch {
    const { code } = await transform(source, { mode: 'strip-only', module: true });
    const unfinished = `${file}.${randomUUID()}`;
    await writeFile(unfinished, code);
    await rename(unfinished, file);
    return code;
  }
}
