import { useQuery } from '@tanstack/react-query';
import MiniSearch from 'minisearch';
import { useState } from 'react';
import { consolePath } from '../../api/request.ts';
import { Search } from '../../parts/search.tsx';
import { words } from '../../words.ts';
import { loadSections, type Section } from './documents.ts';

const text = words.docs;
const shown = 12;

/** Searches all documents by section. The documents are loaded when the user starts typing. */
export function DocsSearch() {
  const [query, setQuery] = useState('');
  const { data: index } = useQuery({
    queryKey: ['docs-search'],
    enabled: query !== '',
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    throwOnError: true,
    queryFn: async () => {
      const search = new MiniSearch<Section>({
        fields: ['heading', 'document', 'text'],
        storeFields: ['heading', 'document'],
        searchOptions: { boost: { heading: 4, document: 2 }, prefix: true, combineWith: 'AND' },
      });
      search.addAll(await loadSections());
      return search;
    },
  });
  const found = index?.search(query).slice(0, shown);
  return (
    <search>
      <Search value={query} label={text.search} onSearch={setQuery} />
      {found && query.trim() !== '' && (
        <ul className="docs-found" aria-label={text.results}>
          {found.map(({ id, heading, document }) => (
            <li key={id}>
              <a className="rail-item" href={`${consolePath}docs/${id}`} onClick={() => setQuery('')}>
                {heading}
                {heading !== document && <span> · {document}</span>}
              </a>
            </li>
          ))}
          {found.length === 0 && <li className="rail-item">{text.nothingFound}</li>}
        </ul>
      )}
    </search>
  );
}
