/** Builds an operation of the OpenAPI document, and the components that operations share. */

import { isDeepStrictEqual } from 'node:util';
import { isObject } from '@millrace/contracts';
import { type TObject, type TSchema, Type } from 'typebox';
import { toHttpStatus } from '../errors/error-body.ts';
import type { FileField, Route } from '../route/route.ts';
import { shapeOf } from '../schema/schema-shape.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: unknown;
  schema: unknown;
}

export interface Operation extends Record<string, unknown> {
  tags: string[];
  parameters: Parameter[];
}

const errorSchema = Type.Object(
  {
    type: Type.String({ description: 'Category of the error.' }),
    code: Type.String({ description: 'Machine-readable error code that does not change.' }),
    detail: Type.String({ description: 'Human-readable explanation of the error.' }),
    attr: Type.Union([Type.String(), Type.Null()], {
      description:
        "Field that caused the error. The parts of a nested field's name are joined by two underscores. Null if " +
        'the error is not about a field.',
    }),
    error_event_id: Type.Optional(
      Type.String({ description: 'ID of the request in the server log. Present only in 5xx responses.' }),
    ),
  },
  { title: 'Error' },
);

/** Returns an OpenAPI 3.1 operation object, or null for a route that always fails. */
export function toOperation<Caller>(route: Route<Caller>, components: Components): Operation | null {
  const { scope, body } = route;
  if (route.successStatus >= 400) return null;
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: [route.description, ...powers(route)].join('\n\n'),
    tags: route.tags,
    ...(scope === 'public' ? { security: [] } : { 'x-required-scopes': [scope] }),
    parameters: [
      ...parameters('path', route.params, components),
      ...parameters('query', route.query, components),
      ...withoutEffect(route),
      ...(route.responses[route.successStatus]?.onlyIfPreferred ? [preferHeader] : []),
    ],
    ...(body && { requestBody: requestBody(route, body, components) }),
    responses: { ...declaredResponses(route, components), ...commonResponses(route, components) },
  };
}

function powers<Caller>({ scope, level, isSensitive }: Route<Caller>): string[] {
  return [
    ...(scope === 'public' ? [] : [`Required scope: \`${scope}\`.`]),
    ...(level === undefined ? [] : [`Required membership level: ${level} or higher.`]),
    ...(isSensitive ? ['Requests with a session cookie require a recent sign-in.'] : []),
  ];
}

const preferHeader: Parameter = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description:
    'With `return=representation`, the response contains the record and the header `Preference-Applied: ' +
    'return=representation`.',
  schema: { type: 'string' },
};

function parameters(location: 'path' | 'query', schema: TObject, components: Components): Parameter[] {
  return Object.entries(schema.properties).map(([name, field]) => {
    const { description, ...rest } = components.reference(field) as Record<string, unknown>;
    const hasDefault = shapeOf(field).default !== undefined;
    const isRequired = location === 'path' || ((schema.required ?? []).includes(name) && !hasDefault);
    return { name, in: location, required: isRequired, description, schema: rest };
  });
}

/** Lists parameters that have no effect, so that generated clients can keep sending them. */
function withoutEffect<Caller>({ queryWithoutEffect = {} }: Route<Caller>): Parameter[] {
  return Object.entries(queryWithoutEffect).map(([name, reason]) => ({
    name,
    in: 'query',
    required: false,
    schema: { type: 'string' },
    description: `Accepted for compatibility, but has no effect: ${reason}`,
  }));
}

function requestBody<Caller>({ examples, file }: Route<Caller>, body: TSchema, components: Components): unknown {
  const { properties, required = [] } = shapeOf(body);
  const schema = file ? withFile(body, file) : body;
  return {
    // The body is optional if no field is required, because an empty body is read as `{}`.
    required: properties === undefined || required.length > 0,
    content: {
      'application/json': components.content(schema, examples.request),
      ...(file && { 'multipart/form-data': { schema: components.reference(schema) } }),
    },
  };
}

/**
 * Returns the body schema with the file field added. The schema needs a title: client generators create a type only for
 * a schema with a name, and use that type for JSON and form requests.
 */
function withFile(body: TSchema, { name, description }: FileField<unknown>): TSchema {
  const { properties, title } = shapeOf(body);
  // Code generators recognize a file by the `format` keyword from OpenAPI 3.0.
  const format = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };
  const part = { ...format, description: `Only in form requests. ${description}` };
  return { ...body, title: `${title}WithFile`, properties: { ...properties, [name]: part } } as TSchema;
}

function declaredResponses<Caller>(route: Route<Caller>, components: Components) {
  const responses = Object.entries(route.responses).map(
    ([status, { description, schema, text, stream, onlyIfPreferred }]) => {
      if (onlyIfPreferred) {
        return [
          status,
          {
            description: `${description} The body is empty unless the request sends \`Prefer: return=representation\`.`,
          },
        ] as const;
      }
      if (stream) {
        const content = { [stream.mediaType]: { schema: { type: 'string' }, example: stream.example } };
        return [status, { description, content }] as const;
      }
      const isRefusal = Number(status) >= 400;
      const isExample = Number(status) === route.successStatus;
      const body = schema ?? (isRefusal ? errorSchema : undefined);
      if (body === undefined) return [status, { description }] as const;
      const content = {
        'application/json': components.content(body, isExample ? route.examples.response : undefined),
        ...(text && { [text.mediaType]: { schema: { type: 'string' }, example: text.example } }),
      };
      return [status, { description, content }] as const;
    },
  );
  return Object.fromEntries(responses);
}

/** Returns the responses that the request pipeline can send for any route, such as 401. */
function commonResponses<Caller>(route: Route<Caller>, components: Components) {
  const isAddressed = Object.keys(route.params.properties).length > 0;
  const isProtected = route.scope !== 'public';
  const listed = [
    [true, 'invalid', 'A parameter or field is invalid or unknown. `attr` contains its name.'],
    [isProtected, 'unauthenticated', 'The API key is missing, unknown or expired, or its user is inactive.'],
    [isProtected, 'forbidden', 'The API key lacks the required scope, or you do not have the required access.'],
    [isAddressed, 'not_found', 'The record does not exist, or you do not have access to it.'],
    [true, 'rate_limited', 'Too many requests. Retry after the number of seconds in `Retry-After`.'],
    [route.body !== undefined, 'too_large', 'The request body is too large.'],
    [route.body !== undefined, 'unsupported_media_type', 'The request body is not JSON.'],
    [true, 'not_acceptable', 'The client does not accept `application/json`.'],
    [true, 'internal', 'Internal server error. Search the server log for `error_event_id`.'],
    [true, 'unavailable', 'Temporarily unavailable. Retry after the number of seconds in `Retry-After`.'],
  ] as const;
  const errors = Object.fromEntries(
    listed
      .filter(([happens, kind]) => happens && !(String(toHttpStatus(kind)) in route.responses))
      .map(([, kind, description]) => [
        toHttpStatus(kind),
        components.share('responses', kind, {
          description,
          content: { 'application/json': { schema: components.reference(errorSchema) } },
        }),
      ]),
  );
  return { ...errors, 431: components.share('responses', 'headers_too_large', headersTooLarge) };
}

/** Node.js sends this response itself, and Millrace never receives the request. */
const headersTooLarge = {
  description:
    'The URL and the headers together are larger than 16 KiB, or there are more than 1,000 headers. The response has ' +
    'no body, and the connection is closed.',
};

type Kind = 'schemas' | 'responses' | 'parameters' | 'examples';

/**
 * Collects the schemas, parameters and responses that several operations share. The document then contains each of them
 * once, and generated clients get named types.
 */
export function createComponents() {
  const kinds: Record<Kind, Map<string, unknown>> = {
    schemas: new Map(),
    responses: new Map(),
    parameters: new Map(),
    examples: new Map(),
  };
  const referenceTo = (kind: Kind, name: string) => ({ $ref: `#/components/${kind}/${name}` });

  /** Adds a component, or reuses an equal one. @returns the reference, or null if a different component has the name */
  function share(kind: Kind, name: string, value: unknown): { $ref: string } | null {
    const known = kinds[kind].get(name);
    if (known === undefined) kinds[kind].set(name, value);
    else if (!isDeepStrictEqual(known, value)) return null;
    return referenceTo(kind, name);
  }

  function convert(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(convert);
    if (!isObject(node)) return node;
    const members = Object.fromEntries(
      Object.entries(forGenerators(node)).map(([key, member]) => [key, convert(member)]),
    );
    if (node.type !== 'object' || typeof node.title !== 'string') return members;
    const reference = share('schemas', node.title, members);
    if (reference === null) throw new Error(`Two schemas have the title ${node.title}.`);
    return reference;
  }

  return {
    /**
     * Returns the schema with every titled object replaced by a reference to its component.
     * @throws Error if two different schemas have the same title
     */
    reference: (schema: TSchema): unknown => convert(schema),
    share,
    /**
     * Returns a media type object. The first example of a titled schema becomes a shared component. Other examples are
     * included directly.
     */
    content(schema: TSchema, example: unknown) {
      const converted = convert(schema);
      if (example === undefined) return { schema: converted };
      const { title } = shapeOf(schema);
      const reference = title === undefined ? null : share('examples', title, { value: example });
      return { schema: converted, ...(reference === null ? { example } : { examples: { default: reference } }) };
    },
    toObject: () =>
      Object.fromEntries(
        Object.entries(kinds).map(([kind, members]) => [kind, Object.fromEntries([...members].sort(byName))]),
      ) as Record<Kind, Record<string, unknown>>,
  };
}

type Components = ReturnType<typeof createComponents>;

/**
 * Rewrites a schema for client generators. A list of types becomes a union. A schema that allows only `null` becomes a
 * nullable string, and a schema that allows only `true` becomes a boolean. A value that can be any list or any object
 * gets no type, because openapi-generator would generate Java code that does not compile for such a union.
 */
function forGenerators(schema: Record<string, unknown>): Record<string, unknown> {
  const { type, const: only, ...others } = schema;
  if (type === 'null' && schema.description !== undefined) return { ...others, type: ['string', 'null'] };
  if (type === 'boolean' && only !== undefined) return { ...others, type };
  if (!Array.isArray(type) || type.filter((name) => name !== 'null').length < 2) return schema;
  const { items, additionalProperties, ...about } = others;
  if (type.includes('array') && type.includes('object')) return about;
  const parts: Record<string, object> = {
    array: { items: items ?? {} },
    object: { additionalProperties: additionalProperties ?? true },
  };
  return { ...about, anyOf: type.map((name: string) => ({ type: name, ...parts[name] })) };
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
