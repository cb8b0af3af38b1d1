import { createRequire } from 'node:module';
import { readTree } from '../src/sql/ast.ts';
import { cutQuery, joinTrees } from '../src/sql/pieces.ts';

interface PublishedParser {
  parseSelect(text: string): string;
  parseExpr(text: string): string;
}

export async function loadPublishedParser(): Promise<PublishedParser> {
  const require = createRequire(import.meta.url);
  return (require('@posthog/hogql-parser') as { default: () => Promise<PublishedParser> }).default();
}

/** Parses a query both in pieces and as a complete text. A tree is null if a piece cannot be parsed. */
export function parseBothWays(parser: PublishedParser, text: string) {
  const cut = cutQuery(text, 'parseSelect');
  const joined =
    cut &&
    joinTrees(
      cut,
      cut.pieces.map((piece) => parser[piece.rule](piece.text)),
    );
  const complete = JSON.parse(parser.parseSelect(text)) as Record<string, unknown>;
  return {
    byPieces: joined && read(joined, text),
    complete: 'error' in complete ? null : read(complete, text),
    count: cut?.pieces.length ?? 0,
  };
}

/** Returns the tree, or the error for a node that is not supported. */
function read(json: unknown, text: string): unknown {
  try {
    return readTree(json, text);
  } catch (error) {
    return String(error);
  }
}
