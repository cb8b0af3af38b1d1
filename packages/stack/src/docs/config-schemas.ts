import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ServiceName, services } from '../build/programs.ts';

/** The parts of JSON Schema that settings use. */
export interface Setting {
  type?: string;
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  anyOf?: { const?: unknown }[];
}

export interface ConfigSchema {
  properties: Record<string, Setting>;
  required?: string[];
}

/** What every service reads from its environment, in the order of `services`. */
export async function configSchemas(root: string): Promise<Record<ServiceName, ConfigSchema>> {
  const entries: [ServiceName, ConfigSchema][] = [];
  for (const service of services) {
    entries.push([service, findSchema(await importSource(root, `services/${service}/src/config.ts`))]);
  }
  return Object.fromEntries(entries) as Record<ServiceName, ConfigSchema>;
}

function findSchema(exports: Record<string, unknown>): ConfigSchema {
  const found = Object.values(exports).find(
    (value) => typeof value === 'object' && value !== null && 'properties' in value,
  );
  if (found === undefined) throw new Error('A config.ts exports no schema.');
  return found as ConfigSchema;
}

/**
 * The exports of one source file of the repository, by its path. For what documents are made of: packages import no
 * services, and so these stay unknown to the compiler.
 */
export async function importSource(root: string, path: string): Promise<Record<string, unknown>> {
  return import(pathToFileURL(join(root, path)).href);
}
