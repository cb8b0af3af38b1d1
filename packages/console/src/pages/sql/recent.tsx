// Stores in the browser which queries the user ran, and lists them in a menu.

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { meQuery } from '../../api/queries.ts';
import { escapeInvisible } from '../../event-detail/json-text.ts';
import { useProject } from '../../frame/project.ts';
import { userStorageKey } from '../../frame/user-storage.ts';
import { formatPast } from '../../parts/ago.ts';
import { createSqlNode, readSqlNode, type SqlSource } from '../../sql/node.ts';
import { text } from './words.ts';

interface RecentQuery {
  source: SqlSource;
  /** Time of the last run, in ISO 8601. */
  at: string;
}

const maxQueries = 20;

/** Returns the user's most recent queries in this project and browser, newest first. Signing out deletes them. */
export function useRecentQueries() {
  const { id } = useProject();
  const { data: me } = useQuery(meQuery);
  const key = me && userStorageKey(`sql-${id}`, me.uuid);
  const [kept, setKept] = useState<{ key: string; queries: RecentQuery[] }>();
  const queries = key === undefined ? [] : kept?.key === key ? kept.queries : read(key);
  return {
    queries,
    keep(source: SqlSource) {
      if (key === undefined) return;
      const others = read(key).filter((one) => JSON.stringify(one.source) !== JSON.stringify(source));
      const next = [{ source, at: new Date().toISOString() }, ...others].slice(0, maxQueries);
      setKept({ key, queries: next });
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // If local storage is full or not available, the list is lost when the page is closed.
      }
    },
  };
}

function read(key: string): RecentQuery[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    if (!Array.isArray(stored)) return [];
    return stored.filter((one): one is RecentQuery => readSqlNode(one?.source) !== null && typeof one.at === 'string');
  } catch {
    return [];
  }
}

/** A menu of recent queries. Choosing a query inserts it into the editor. */
export function RecentQueries({
  queries,
  onChoose,
}: {
  queries: readonly RecentQuery[];
  onChoose: (source: SqlSource) => void;
}) {
  if (queries.length === 0) return null;
  return (
    <MenuTrigger>
      <AriaButton className="button">{text.recent}</AriaButton>
      <Popover placement="bottom start">
        <Menu
          className="menu sql-recent"
          aria-label={text.recent}
          onAction={(at) => onChoose(queries[Number(at)]?.source ?? createSqlNode('').source)}
        >
          {queries.map(({ source, at }, index) => {
            const line = escapeInvisible(source.query.replace(/\s+/g, ' ').trim().slice(0, 200));
            return (
              <MenuItem key={JSON.stringify(source)} id={String(index)} className="menu-item" textValue={line}>
                <span className="cut mono" translate="no">
                  {line}
                </span>
                <span className="hint">{formatPast(at)}</span>
              </MenuItem>
            );
          })}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
