import { isObject } from '@millrace/contracts';
import type { TSchema } from 'typebox';

export interface Components {
  /** The schema as a document holds it: every titled object inside replaced by a reference to its component. */
  reference(schema: TSchema): unknown;
  schemas(): Record<string, unknown>;
}

/**
 * Collects schemas that carry a `title` as named components, so that generated clients get types with names.
 *
 * The returned `reference` throws Error when two different schemas carry one title.
 */
export function createComponents(): Components {
  const schemas = new Map<string, { source: unknown; schema: unknown }>();

  function convert(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(convert);
    if (!isObject(node)) return node;
    const title = node.title;
    if (node.type !== 'object' || typeof title !== 'string') return convertMembers(node);
    const known = schemas.get(title);
    if (known === undefined) {
      const entry = { source: node, schema: undefined as unknown };
      schemas.set(title, entry);
      entry.schema = convertMembers(node);
    } else if (known.source !== node) {
      throw new Error(`Two schemas carry the title ${title}.`);
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  const convertMembers = (node: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(node).map(([key, member]) => [key, convert(member)]));

  return {
    reference: (schema) => convert(schema),
    schemas: () => Object.fromEntries([...schemas].sort().map(([title, { schema }]) => [title, schema])),
  };
}
