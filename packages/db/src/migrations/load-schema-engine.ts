import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';

interface EngineBindings {
  SchemaEngine: typeof SchemaEngine;
  __wbg_set_wasm(exports: unknown): void;
}

/** The part of the WebAssembly interface used here; Node has it, its type package does not name it. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: unknown): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

let loaded: Promise<typeof SchemaEngine> | undefined;

/**
 * The migration engine, compiled to WebAssembly. Its package expects a bundler that understands
 * `import … from './x.wasm'`; plain Node does not, so the module is read and bound here by hand.
 */
export function loadSchemaEngine(): Promise<typeof SchemaEngine> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<typeof SchemaEngine> {
  const bindingsPath = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bindings = (await import(bindingsPath)) as EngineBindings;
  const bytes = await readFile(bindingsPath.replace(/\.js$/, '.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, {
    './schema_engine_bg.js': withTimersThatEnd(bindings),
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return bindings.SchemaEngine;
}

/** The engine leaves the ten-second timer of its lock running. A process that has finished should not wait for it. */
function withTimersThatEnd(bindings: object): Record<string, unknown> {
  const setTimer = (callback: () => void, delayMs: number) => setTimeout(callback, delayMs).unref();
  return Object.fromEntries(
    Object.entries(bindings).map(([name, value]) => [name, name.startsWith('__wbg_setTimeout_') ? setTimer : value]),
  );
}
