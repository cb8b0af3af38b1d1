// The documentation pages, which show the manual of the running version.

import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiProblem, consolePath } from '../../api/request.ts';
import { Icon } from '../../parts/icon.tsx';
import { isHeading, Markdown, toHeadingId } from '../../parts/markdown.tsx';
import { ErrorState } from '../../parts/states.tsx';
import { words } from '../../words.ts';
import { indexName, loadDocument, resolveDocumentLink } from './documents.ts';
import { DocsSearch } from './search.tsx';
import './docs.css';

/** Shows a document, and scrolls to the section in the URL. */
export function DocsPage() {
  const { _splat = '' } = useParams({ strict: false });
  const name = _splat === '' ? indexName : _splat;
  const { data: tokens } = useQuery({
    queryKey: ['document', name],
    queryFn: () => loadDocument(name),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    throwOnError: true,
  });
  const title = tokens?.find(isHeading)?.text;
  useEffect(() => {
    if (title === undefined) return;
    window.document.title = `${title} · ${words.product}`;
    // The browser looks for the section before the document has loaded, so scroll to the section when it exists.
    const section = window.document.getElementById(decodeURIComponent(location.hash.slice(1)));
    section?.scrollIntoView({ block: 'start' });
    section?.focus({ preventScroll: true });
  }, [title]);
  if (tokens === undefined) return null;
  if (tokens === null) return <ErrorState what="" error={new ApiProblem(404, {}, new Headers())} />;
  const addressOf = (target: string) => {
    if (target.startsWith('#') || /^https?:/.test(target)) return target;
    const found = resolveDocumentLink(target, name);
    return found ? `${consolePath}docs/${found.name}${found.section}` : undefined;
  };
  return (
    <div className="docs">
      <header className="docs-side">
        <a className="rail-brand" href={consolePath}>
          <Icon name="mill" size={18} />
          {words.product}
        </a>
        <DocsSearch />
        <nav aria-label={words.docs.sections}>
          <ul>
            <li>
              <a className="rail-item" href={`${consolePath}docs`}>
                {words.docs.index}
              </a>
            </li>
            {tokens.filter(isHeading).map(
              ({ depth, text }) =>
                depth === 2 && (
                  <li key={text}>
                    <a className="rail-item" href={`#${toHeadingId(text)}`}>
                      {text.replaceAll('`', '')}
                    </a>
                  </li>
                ),
            )}
          </ul>
        </nav>
      </header>
      <main className="panel docs-text">
        <Markdown tokens={tokens} addressOf={addressOf} />
      </main>
    </div>
  );
}
