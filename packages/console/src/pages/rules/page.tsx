import { useParams } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import ingestion from '../../../../../docs/ingestion-rules.md?raw';
import settings from '../../../../../docs/settings.md?raw';
import wire from '../../../../../docs/wire-rules.md?raw';
import { ApiProblem, consolePath } from '../../api/request.ts';
import { Icon } from '../../parts/icon.tsx';
import { Failed } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { type Block, Line, readMarkdown } from './markdown.tsx';
import './rules.css';

/** The documents that warnings name a rule of, as they were when these pages were built. */
const documents: Record<string, string> = {
  'ingestion-rules': ingestion,
  'wire-rules': wire,
  settings,
};

/** A document of rules, at the section that the address names. */
export function RulesPage() {
  const { document: name = '' } = useParams({ strict: false }) as { document?: string };
  const source = Object.hasOwn(documents, name) ? documents[name] : undefined;
  const blocks = useMemo(() => readMarkdown(source ?? ''), [source]);
  const title = blocks.find(({ kind }) => kind === 'heading');
  useEffect(() => {
    window.document.title = [title?.kind === 'heading' ? title.text : '', words.product].filter(Boolean).join(' · ');
    // The browser looked for the section before there was one.
    const section = window.document.getElementById(decodeURIComponent(location.hash.slice(1)));
    section?.scrollIntoView({ block: 'start' });
    section?.focus({ preventScroll: true });
  }, [title]);
  if (source === undefined) return <Failed what="" error={new ApiProblem(404, {}, new Headers())} />;
  const sections = blocks.filter((block) => block.kind === 'heading').filter(({ level }) => level === 2);
  return (
    <div className="rules">
      <header className="rules-side">
        <a className="rail-brand" href={consolePath}>
          <Icon name="mill" size={18} />
          {words.product}
        </a>
        <nav aria-label={words.rules.sections}>
          <ul>
            {sections.map(({ id, text }) => (
              <li key={id}>
                <a className="rail-item" href={`#${id}`}>
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <main className="panel rules-text">
        {blocks.map((block, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a document never changes
          <Shown key={at} block={block} />
        ))}
      </main>
    </div>
  );
}

/** Sections of the documents that are here; others of the repository are not served. */
function addressOf(target: string): string | undefined {
  const [path = '', section = ''] = target.split('#');
  if (path === '') return `#${section}`;
  const name = /^([\w-]+)\.md$/.exec(path)?.[1] ?? '';
  return Object.hasOwn(documents, name) ? `${consolePath}rules/${name}#${section}` : undefined;
}

const inner = (text: string) => <Line text={text} addressOf={addressOf} />;

function Shown({ block }: { block: Block }) {
  if (block.kind === 'heading') {
    const Heading = block.level === 1 ? 'h1' : block.level === 2 ? 'h2' : 'h3';
    return (
      <Heading id={block.id} tabIndex={-1}>
        {inner(block.text)}
      </Heading>
    );
  }
  if (block.kind === 'text') return <p>{inner(block.text)}</p>;
  if (block.kind === 'code') {
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
      <pre className="code" tabIndex={0}>
        {block.text}
      </pre>
    );
  }
  if (block.kind === 'list') {
    const List = block.isNumbered ? 'ol' : 'ul';
    return (
      <List>
        {block.items.map((item) => (
          <li key={item}>{inner(item)}</li>
        ))}
      </List>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <div className="rules-table" tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            {block.head.map((cell) => (
              <th scope="col" key={cell}>
                {inner(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {block.rows.map((row) => (
            <tr key={row.join()}>
              {row.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells of a row never move
                <td key={at}>{inner(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
