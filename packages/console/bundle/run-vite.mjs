// Runs the Vite build in a separate process: `run-vite.mjs <directory> [--marked]`. The process is separate, because
// Vite's native compiler remains in memory and does not work inside jest's sandboxed modules. Prints the bundle's
// source files as JSON.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { build } from 'vite';

const home = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const directory = process.argv[2];
const marksWords = process.argv[3] === '--marked';
const bundled = new Set();
// The build must run in production mode. Tests set NODE_ENV to another value, which would make Vite bundle React's
// development build.
// biome-ignore lint/style/noProcessEnv: Vite and its plugins read it from here
process.env.NODE_ENV = 'production';

await build({
  root: home,
  base: './',
  configFile: false,
  envDir: false,
  logLevel: 'warn',
  // By default, Vite would write its cache next to the sources.
  cacheDir: join(directory, '.vite-cache'),
  plugins: [react(), firstPaintScript(), noteModules(), ...(marksWords ? [markWords()] : [])],
  build: {
    outDir: directory,
    emptyOutDir: true,
    manifest: 'manifest.json',
    rolldownOptions: {
      input: ['index.html', 'shared.html'].map((page) => join(home, page)),
      // Without this option, console pages would import modules from the entry file of `shared.html` and thereby run
      // that file.
      preserveEntrySignatures: 'strict',
      output: { codeSplitting: { groups: groupsOfFiles() } },
    },
    // Write every asset to a file, because the content security policy allows `data:` URLs only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ['chrome120', 'firefox121', 'safari17'],
    reportCompressedSize: false,
    // Vite's size warning is unnecessary, because `writeConsole` checks the compressed sizes.
    chunkSizeWarningLimit: 2000,
  },
});
process.stdout.write(JSON.stringify([...bundled]));

/**
 * Combines modules into few files, because each file costs the browser about as much as an API request. One file
 * contains the modules that both HTML pages need, two files contain those that only one HTML page needs, and a fourth
 * contains modules that at least five console pages share. All other modules stay in their pages' files.
 */
function groupsOfFiles() {
  let neededBy;
  const name = (id, context) => {
    const isEntry = id.endsWith('.html') || id === join(home, 'src/main.tsx');
    if (isEntry || id.startsWith(join(home, 'src/shared/'))) return null;
    neededBy ??= ['index.html', 'shared.html'].map((page) => modulesOf(page, context));
    const [isInConsole, isInShared] = neededBy.map((modules) => modules.has(id));
    if (isInConsole) return isInShared ? 'base' : 'frame';
    return isInShared ? 'results' : null;
  };
  return [
    { name, debugName: 'modules of HTML pages', priority: 2 },
    { name: 'common', minShareCount: 5, priority: 1 },
  ];
}

/** Returns the modules that an HTML page loads before it renders. */
function modulesOf(page, context) {
  const found = new Set();
  const add = (id) => {
    if (found.has(id)) return;
    found.add(id);
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) add(imported);
  };
  add(join(home, page));
  return found;
}

/** Adds a separate script file, which sets the theme before the styles load. */
function firstPaintScript() {
  let fileName = '';
  return {
    name: 'first-paint-script',
    async buildStart() {
      const source = await readFile(join(home, 'src/frame/first-paint.js'), 'utf8');
      const hash = createHash('sha256').update(source).digest('base64url').slice(0, 8);
      fileName = `assets/first-paint-${hash}.js`;
      this.emitFile({ type: 'asset', fileName, source });
    },
    transformIndexHtml: () => [{ tag: 'script', attrs: { src: `./${fileName}` }, injectTo: 'head-prepend' }],
  };
}

function noteModules() {
  return {
    name: 'note-modules',
    generateBundle(_options, output) {
      for (const part of Object.values(output)) {
        const paths =
          part.type === 'asset' ? part.originalFileNames.map((path) => join(home, path)) : Object.keys(part.modules);
        for (const path of paths) if (path.startsWith('/')) bundled.add(path.replace(/\?.*$/, ''));
      }
    },
  };
}

/** Wraps the strings of each `words.ts` in markers, so that tests can detect interface text from other sources. */
function markWords() {
  const suffix = '?marked';
  return {
    name: 'mark-words',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (!source.endsWith('/words.ts') || importer?.endsWith(suffix)) return null;
      const resolved = await this.resolve(source, importer, { skipSelf: true });
      return resolved && `${resolved.id}${suffix}`;
    },
    async load(id) {
      if (!id.endsWith(suffix)) return null;
      const path = id.slice(0, -suffix.length);
      const names = [...(await readFile(path, 'utf8')).matchAll(/^export (?:const|function) (\w+)/gm)].map(
        ([, name]) => name,
      );
      return `
        import * as own from ${JSON.stringify(path)};
        const mark = (value) => {
          if (typeof value === 'string') return /\\p{L}/u.test(value) ? '⟦' + value + '⟧' : value;
          if (typeof value === 'function') return (...given) => mark(value(...given));
          if (Array.isArray(value)) return value.map(mark);
          if (typeof value !== 'object' || value === null) return value;
          return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mark(one)]));
        };
        ${names.map((name) => `export const ${name} = mark(own.${name});`).join('\n')}`;
    },
  };
}
