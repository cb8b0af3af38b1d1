import { lexer, Marked, type Token, type Tokens } from 'marked';
import { Fragment, type ReactNode } from 'react';

/** Returns the URL for a link target, or undefined to show the link as plain text. */
export type AddressOf = (target: string) => string | undefined;

/** Returns the ID of a heading, as used in links such as `docs/wire-rules.md#dropped-events`. */
export const toHeadingId = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-');

/** Parses Markdown. HTML is shown as text. */
export const readMarkdown = (source: string): Token[] => lexer(source.replace(/<!--[\s\S]*?-->/g, ''));

const withoutHtml = new Marked({ tokenizer: { html: () => undefined, tag: () => undefined } });

/**
 * Parses Markdown that users have written. HTML is shown as text, and headings are lowered below the levels of the
 * page's own headings.
 */
export function readPlainMarkdown(source: string): Token[] {
  const tokens = withoutHtml.lexer(source);
  const highest = Math.min(...tokens.filter(isHeading).map(({ depth }) => depth));
  return tokens.map((token) => (isHeading(token) ? { ...token, depth: token.depth === highest ? 3 : 4 } : token));
}

export const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';

/** Renders Markdown as React elements, so that text in the Markdown cannot become HTML. */
export function Markdown({ tokens, addressOf }: { tokens: readonly Token[]; addressOf: AddressOf }): ReactNode {
  return tokens.map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text never changes
    <Fragment key={at}>{elementOf(token, addressOf)}</Fragment>
  ));
}

function elementOf(token: Token, addressOf: AddressOf): ReactNode {
  const inner = (tokens: readonly Token[] | undefined) => <Markdown tokens={tokens ?? []} addressOf={addressOf} />;
  switch (token.type) {
    case 'heading': {
      const Heading = (['h1', 'h2', 'h3'] as const)[token.depth - 1] ?? 'h4';
      return (
        <Heading id={toHeadingId(token.text)} tabIndex={-1}>
          {inner(token.tokens)}
        </Heading>
      );
    }
    case 'paragraph':
      return <p>{inner(token.tokens)}</p>;
    case 'blockquote':
      return <blockquote>{inner(token.tokens)}</blockquote>;
    case 'list': {
      const List = token.ordered ? 'ol' : 'ul';
      return (
        <List>
          {(token as Tokens.List).items.map((item) => (
            <li key={item.raw}>{inner(item.tokens)}</li>
          ))}
        </List>
      );
    }
    case 'table':
      return <Table table={token as Tokens.Table} addressOf={addressOf} />;
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        <pre className="code" tabIndex={0}>
          {token.text}
        </pre>
      );
    case 'hr':
      return <hr />;
    case 'strong':
      return <strong>{inner(token.tokens)}</strong>;
    case 'em':
      return <em>{inner(token.tokens)}</em>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link': {
      const address = addressOf(token.href);
      return address === undefined ? inner(token.tokens) : <a href={address}>{inner(token.tokens)}</a>;
    }
    // The console does not include the documentation's images.
    case 'image':
    case 'html':
    case 'space':
      return null;
    default:
      return 'tokens' in token && token.tokens ? inner(token.tokens) : 'text' in token ? token.text : token.raw;
  }
}

function Table({ table, addressOf }: { table: Tokens.Table; addressOf: AddressOf }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <div className="markdown-table" tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a text never changes
              <th scope="col" key={at}>
                <Markdown tokens={cell.tokens} addressOf={addressOf} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a text never changes
            <tr key={index}>
              {row.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a text never changes
                <td key={at}>
                  <Markdown tokens={cell.tokens} addressOf={addressOf} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
