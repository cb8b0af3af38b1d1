import type { TObject, TSchema } from 'typebox';
import { statusOf } from '../errors/error-body.ts';
import type { FileField } from '../route/file-field.ts';
import type { Route } from '../route/route.ts';
import { shapeOf } from '../schema/schema-shape.ts';
import type { Components } from './components.ts';
import { errorSchema } from './error-schema.ts';

/** One operation object of an OpenAPI 3.1 document. */
export function operation<Caller>(route: Route<Caller>, components: Components): Record<string, unknown> {
  const { scope, body } = route;
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: [route.description, ...powers(route)].join('\n\n'),
    tags: route.tags,
    security: scope === 'public' ? [] : [{ personalApiKey: [scope] }],
    parameters: [
      ...parameters('path', route.params, components),
      ...parameters('query', route.query, components),
      ...(route.responses[route.successStatus]?.onlyIfPreferred ? [preferHeader] : []),
    ],
    ...(body && { requestBody: requestBody(route, body, components) }),
    responses: { ...declaredResponses(route, components), ...commonResponses(route, components) },
  };
}

/** What a caller needs, in words. */
function powers<Caller>({ scope, level }: Route<Caller>): string[] {
  return [
    ...(scope === 'public' ? [] : [`Scope: \`${scope}\`.`]),
    ...(level === undefined ? [] : [`Membership level: ${level} or higher.`]),
  ];
}

const preferHeader = {
  name: 'Prefer',
  in: 'header',
  required: false,
  description: 'With `return=representation` the answer holds the record, and `Preference-Applied` says so.',
  schema: { type: 'string' },
};

function parameters(location: 'path' | 'query', schema: TObject, components: Components): unknown[] {
  return Object.entries(schema.properties).map(([name, field]) => {
    const { description, ...rest } = components.reference(field as TSchema) as Record<string, unknown>;
    const hasDefault = shapeOf(field as TSchema).default !== undefined;
    const isRequired = location === 'path' || ((schema.required ?? []).includes(name) && !hasDefault);
    return { name, in: location, required: isRequired, description, schema: rest };
  });
}

function requestBody<Caller>({ examples, file }: Route<Caller>, schema: TSchema, components: Components): unknown {
  return {
    required: true,
    content: {
      ...content(schema, examples.request, components),
      ...(file && { 'multipart/form-data': { schema: formSchema(schema, file, components) } }),
    },
  };
}

/** The fields of the body, and the file beside them. */
function formSchema(schema: TSchema, { name, description }: FileField<unknown>, components: Components): unknown {
  const part = { type: 'string', contentMediaType: 'application/octet-stream', description };
  return { allOf: [components.reference(schema), { type: 'object', properties: { [name]: part } }] };
}

function content(schema: TSchema, example: unknown, components: Components) {
  return {
    'application/json': { schema: components.reference(schema), ...(example !== undefined && { example }) },
  };
}

function declaredResponses<Caller>(route: Route<Caller>, components: Components) {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, { description, schema, text, onlyIfPreferred }]) => [
      status,
      {
        description: onlyIfPreferred ? `${description} The body is empty unless \`Prefer\` asks for one.` : description,
        ...(schema &&
          !onlyIfPreferred && {
            content: {
              ...content(
                schema,
                Number(status) === route.successStatus ? route.examples.response : undefined,
                components,
              ),
              ...(text && { [text.mediaType]: { schema: { type: 'string' }, example: text.example } }),
            },
          }),
      },
    ]),
  );
}

/** What the pipeline answers by itself, as far as it can happen on this route. */
function commonResponses<Caller>(route: Route<Caller>, components: Components) {
  const isAddressed = Object.keys(route.params.properties).length > 0;
  const isProtected = route.scope !== 'public';
  const listed = [
    [true, statusOf('invalid'), 'A parameter or a field is wrong or unknown; `attr` names it.'],
    [isProtected, statusOf('unauthenticated'), 'The key is missing, unknown, expired or of an inactive user.'],
    [isProtected, statusOf('forbidden'), 'The key lacks the scope, or the caller may not touch what is addressed.'],
    [isAddressed, statusOf('not_found'), 'What the path addresses does not exist or is not visible to the caller.'],
    [true, statusOf('rate_limited'), 'Too many requests; try again after `Retry-After` seconds.'],
    [route.body !== undefined, statusOf('too_large'), 'The body is too large.'],
    [route.body !== undefined, statusOf('unsupported_media_type'), 'The body is not JSON.'],
    [true, statusOf('not_acceptable'), '`Accept` leaves no room for JSON.'],
    [true, statusOf('internal'), 'A defect of the server; `error_event_id` finds it in the log.'],
    [true, statusOf('unavailable'), 'A part of the system does not answer; try again after `Retry-After`.'],
  ] as const;
  return Object.fromEntries(
    listed
      .filter(([happens, status]) => happens && !(String(status) in route.responses))
      .map(([, status, description]) => [
        status,
        { description, content: content(errorSchema, undefined, components) },
      ]),
  );
}
