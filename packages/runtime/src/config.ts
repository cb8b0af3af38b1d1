// Reads a service's settings from environment variables, according to a schema.

import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import Value from 'typebox/value';
import { toEnvironmentVariable } from './environment.ts';
import { readSecretFiles } from './setting-files.ts';

/** Lists all problems with the settings, so that operators can fix them all before the next restart. */
export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(
      `The configuration has ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}:\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    );
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads a service's config from the environment. The field `ingestPort` is read from `INGEST_PORT` and converted to its
 * type. If the variable is not set, the schema's default applies. An empty variable counts as unset. If the schema
 * contains both `redisPassword` and `redisPasswordFile`, the password can also be in the file at that path.
 * @throws ConfigError that lists every missing or invalid variable. Values are omitted, because they may be secret
 */
export function readConfig<P extends TProperties>(
  schema: TObject<P>,
  env: Record<string, string | undefined>,
): Readonly<Static<TObject<P>>> {
  const files = readSecretFiles(Object.keys(schema.properties), env);
  const raw: Record<string, unknown> = {};
  for (const [field, fieldSchema] of Object.entries(schema.properties)) {
    const text = files.texts.get(field) ?? env[toEnvironmentVariable(field)]?.trim();
    if (text) raw[field] = coerce(fieldSchema, text);
  }
  const value = Value.Default(schema, raw) as Record<string, unknown>;
  const problems = Object.entries(schema.properties).flatMap(([field, fieldSchema]) => {
    const name = toEnvironmentVariable(field);
    const problem = files.problems.get(field);
    if (problem !== undefined) return [problem];
    if (value[field] === undefined) {
      return isOptional(schema, field) ? [] : [`${name} is required${describe(fieldSchema)}`];
    }
    if (Value.Check(fieldSchema, value[field])) return [];
    return [`${name} ${expectation(fieldSchema)}${describe(fieldSchema)}`];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(value) as Readonly<Static<TObject<P>>>;
}

interface SettingSchema {
  type?: string;
  minimum?: number;
  maximum?: number;
  anyOf?: { const?: unknown }[];
  description?: string;
}

/** Converts a string as TypeBox does, except that it does not accept `1.5`, `true` or `0x10` as an integer. */
function coerce(schema: TSchema, text: string): unknown {
  if ((schema as SettingSchema).type === 'integer') return /^[+-]?\d+$/.test(text) ? Number(text) : text;
  return Value.Convert(schema, text);
}

function expectation(schema: TSchema): string {
  const { type, minimum, maximum, anyOf } = schema as SettingSchema;
  if (anyOf !== undefined) return `must be one of ${anyOf.map((choice) => String(choice.const)).join(', ')}`;
  if (type === 'boolean') return 'must be true or false';
  if (type !== 'integer' && type !== 'number') return 'is not valid';
  const kind = type === 'integer' ? 'a whole number' : 'a number';
  if (minimum === undefined) return `must be ${kind}`;
  const isUnlimited = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER;
  return isUnlimited ? `must be ${kind} of at least ${minimum}` : `must be ${kind} from ${minimum} to ${maximum}`;
}

function isOptional(schema: TObject, field: string): boolean {
  return !(schema.required ?? []).includes(field);
}

function describe(schema: TSchema): string {
  const { description } = schema as SettingSchema;
  return description ? ` (${description})` : '';
}

export function integerSetting(defaultValue: number, description: string, bounds: { min?: number; max?: number } = {}) {
  return Type.Integer({
    default: defaultValue,
    minimum: bounds.min ?? 0,
    maximum: bounds.max ?? Number.MAX_SAFE_INTEGER,
    description,
  });
}

export const logLevelConfigFields = {
  logLevel: Type.Union([Type.Literal('error'), Type.Literal('warn'), Type.Literal('info'), Type.Literal('debug')], {
    default: 'info',
    description: 'lowest level of log messages to write',
  }),
} as const;
