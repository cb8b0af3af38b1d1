// A searchable list of properties. Each value has an action menu, for example to filter by the value.

import { useMemo, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Button } from '../parts/button.tsx';
import { copyText } from '../parts/copy.ts';
import { Icon } from '../parts/icon.tsx';
import { formatPropertyName, isSdkProperty, matchesProperty, selectUsualProperties } from '../parts/properties.ts';
import { words } from '../words.ts';
import { escapeInvisible, formatJsonValue, indentJson, parseHttpUrl } from './json-text.ts';
import { text } from './words.ts';
import './event-detail.css';

export type FilteredBy = 'event' | 'distinct_id' | 'property' | 'person';

/** The menu actions that a page offers for a property value. An undefined action is not in the menu. */
export interface ValueActions {
  /**
   * Filters the list by the value.
   * @param isNot true to exclude the value; only if the list supports exclusion for the property
   */
  onFilter?: (by: FilteredBy, name: string, value: string, isNot: boolean) => void;
  onColumn?: (name: string) => void;
}

const maxShown = 200;
const longText = 400;
/** Nested values with more characters are truncated until the user expands them. */
const longNested = 120;

/**
 * A searchable list of properties. Custom properties come first, followed by common SDK properties. Other SDK
 * properties are in a collapsed section.
 */
export function PropertyList({
  members,
  by,
  actions,
}: {
  members: readonly [name: string, json: string][];
  by: 'property' | 'person';
  actions: ValueActions;
}) {
  const [searchText, setSearchText] = useState('');
  const found = useMemo(() => {
    const needle = searchText.trim().toLowerCase();
    return members.filter(([name, json]) => matchesProperty(name, needle) || json.toLowerCase().includes(needle));
  }, [members, searchText]);
  if (members.length === 0) return <p className="detail-note quiet">{text.noProperties}</p>;
  const own = found.filter(([name]) => !isSdkProperty(name));
  const ofSdk = new Map(found.filter(([name]) => isSdkProperty(name)));
  const usual = selectUsualProperties((name) => ofSdk.has(name));
  const shown = [...own, ...usual.map((name) => [name, ofSdk.get(name) ?? ''] as [string, string])];
  const folded = [...ofSdk].filter(([name]) => !usual.includes(name));
  return (
    <>
      {members.length > 6 && (
        <div className="detail-search">
          <span className="search">
            <Icon name="search" size={14} />
            <input
              type="search"
              aria-label={text.search}
              placeholder={text.search}
              value={searchText}
              onChange={({ target }) => setSearchText(target.value)}
            />
          </span>
        </div>
      )}
      {found.length === 0 && <p className="detail-note quiet">{text.noneFound}</p>}
      <Facts members={shown} by={by} actions={actions} />
      {folded.length > 0 && (
        // Expand the collapsed section during a search, or if it contains all properties.
        <details key={String(searchText === '')} open={searchText !== '' || shown.length === 0}>
          <summary className="fold">{text.folded(folded.length)}</summary>
          <Facts members={folded} by={by} actions={actions} />
        </details>
      )}
    </>
  );
}

function Facts({
  members,
  by,
  actions,
}: {
  members: readonly [name: string, json: string][];
  by: 'property' | 'person';
  actions: ValueActions;
}) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? members : members.slice(0, maxShown);
  return (
    <>
      <dl className="facts">
        {shown.map(([name, json]) => (
          <div key={name}>
            <dt title={escapeInvisible(name)}>{escapeInvisible(formatPropertyName(name))}</dt>
            <dd>
              <PropertyValue name={name} json={json} by={by} actions={actions} />
            </dd>
          </div>
        ))}
      </dl>
      {shown.length < members.length && (
        <div className="detail-note">
          <Button onPress={() => setWhole(true)}>{text.more(members.length - shown.length)}</Button>
        </div>
      )}
    </>
  );
}

export const toSortedMembers = (properties: Record<string, unknown>): [name: string, json: string][] =>
  Object.entries(properties)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => [name, JSON.stringify(value)]);

/** Returns whether a string looks like a number or another JSON value. Such strings are shown in quotes. */
const isAmbiguous = (json: string) => json === '""' || /^"(-?\d[\d.eE+-]*|true|false|null)"$/.test(json);

export function PropertyValue({
  name,
  json,
  by,
  actions,
}: {
  name: string;
  json: string;
  by: FilteredBy;
  actions: ValueActions;
}) {
  const [isWhole, setWhole] = useState(false);
  const [isCopied, setCopied] = useState<boolean | null>(null);
  const isNested = json.startsWith('{') || json.startsWith('[');
  const shownLength = isNested ? longNested : longText;
  const value = isAmbiguous(json) ? json : formatJsonValue(json);
  const isLong = value.length > shownLength;
  const isProperty = by === 'property' || by === 'person';
  const label = escapeInvisible(isProperty ? formatPropertyName(name) : name);
  const address = parseHttpUrl(json);
  const canFilter = actions.onFilter !== undefined && !isNested && json !== 'null' && json.length <= 1000;
  const act = (key: string) => {
    if (key === 'only' || key === 'not') actions.onFilter?.(by, name, formatJsonValue(json), key === 'not');
    else if (key === 'column') actions.onColumn?.(name);
    else if (key === 'copy') void copyText(formatJsonValue(json)).then(setCopied);
  };
  return (
    <>
      <MenuTrigger>
        <AriaButton className="facts-value">
          <span className="only-heard">{label}: </span>
          {escapeInvisible(value.slice(0, shownLength))}
          {isLong && '…'}
        </AriaButton>
        <Popover placement="bottom start">
          <Menu className="menu" aria-label={label} onAction={(key) => act(String(key))}>
            {canFilter ? (
              <MenuItem id="only" className="menu-item">
                {text.only}
              </MenuItem>
            ) : null}
            {canFilter && isProperty ? (
              <MenuItem id="not" className="menu-item">
                {text.not}
              </MenuItem>
            ) : null}
            {actions.onColumn && by === 'property' ? (
              <MenuItem id="column" className="menu-item">
                {text.column}
              </MenuItem>
            ) : null}
            <MenuItem id="copy" className="menu-item">
              {text.copyValue}
            </MenuItem>
            {address ? (
              <MenuItem id="open" className="menu-item" href={address} target="_blank" rel="noopener noreferrer">
                {text.openLink}
              </MenuItem>
            ) : null}
          </Menu>
        </Popover>
      </MenuTrigger>
      {isCopied !== null && (
        <span role="status" className={isCopied ? 'hint' : 'bad'}>
          {' '}
          {isCopied ? words.copied : words.copyFailed}
        </span>
      )}
      {isLong && (
        <div>
          <Button look="plain" onPress={() => setWhole(!isWhole)}>
            {isWhole ? text.showLess : text.showAll(value.length)}
          </Button>
        </div>
      )}
      {isWhole && <LongText value={isNested ? indentJson(json) : formatJsonValue(json)} />}
    </>
  );
}

/** Shows a long string in chunks, so that the browser renders only the visible chunks. */
export function LongText({ value }: { value: string }) {
  const pieces = useMemo(() => cutAtLines(escapeInvisible(value), 4000), [value]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <pre className="code code-wrap long-text" tabIndex={0}>
      {pieces.map((piece, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the chunks of a text never change order
        <span key={at} className="long-text-piece">
          {piece}
        </span>
      ))}
    </pre>
  );
}

function cutAtLines(value: string, size: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < value.length; ) {
    const line = value.indexOf('\n', at + size);
    const end = line === -1 || line > at + 2 * size ? at + size : line + 1;
    pieces.push(value.slice(at, end));
    at = end;
  }
  return pieces;
}
