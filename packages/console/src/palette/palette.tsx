import { useQueries, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Input } from 'react-aria-components/Input';
import { Header, Menu, MenuItem, MenuSection } from 'react-aria-components/Menu';
import { Dialog as AriaDialog, Modal, ModalOverlay } from 'react-aria-components/Modal';
import { TextField } from 'react-aria-components/TextField';
import { meQuery } from '../api/queries.ts';
import { useProject } from '../frame/project.ts';
import { usePathInOtherProjects } from '../frame/project-switch.tsx';
import { useDebounced } from '../parts/debounced.ts';
import { Icon } from '../parts/icon.tsx';
import { explainError } from '../parts/states.tsx';
import { words } from '../words.ts';
import { keepRecent, readRecent } from './recent.ts';
import { listActions, listPages, listProjects, type PaletteEntry, recordQueries } from './targets.ts';

/** A dialog for finding pages, projects and records by a part of their name, and for opening them. */
export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const { sections, isSearching, error } = useFound(typed.trim());
  const open = (key: string) => {
    const entry = sections.flatMap(({ items }) => items).find((item) => item.key === key);
    if (entry === undefined) return;
    keepRecent(entry);
    onClose();
    void navigate({ to: entry.to, search: (entry.search ?? {}) as never });
  };
  return (
    <ModalOverlay isOpen isDismissable className="shade" onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className="dialog-box">
        <AriaDialog className="palette" aria-label={words.palette.title}>
          <Autocomplete inputValue={typed} onInputChange={setTyped}>
            <TextField className="palette-field" aria-label={words.palette.label} autoFocus>
              <Icon name="search" size={14} />
              <Input placeholder={words.palette.label} maxLength={200} />
            </TextField>
            <Menu
              className="menu palette-menu"
              aria-label={words.palette.results}
              onAction={(key) => open(String(key))}
              renderEmptyState={() => (
                <p className="quiet palette-none">{isSearching ? words.states.loading : words.palette.none}</p>
              )}
            >
              {sections.map(({ name, items }) => (
                <MenuSection key={name} id={name}>
                  <Header className="menu-head">{name}</Header>
                  {items.map((item) => (
                    <MenuItem key={item.key} id={item.key} className="menu-item palette-item" textValue={item.name}>
                      <Icon name={item.icon} size={14} />
                      <span className="cut">{item.name}</span>
                      <span className="hint cut">{item.hint}</span>
                    </MenuItem>
                  ))}
                </MenuSection>
              ))}
            </Menu>
          </Autocomplete>
          {error !== null && (
            <p className="bad palette-none" role="alert">
              {words.palette.failed(explainError(error))}
            </p>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface Section {
  name: string;
  items: readonly PaletteEntry[];
}

/** Returns the search results in sections, without duplicates. Recently opened pages and records come first. */
function useFound(text: string): { sections: Section[]; isSearching: boolean; error: unknown } {
  const project = useProject();
  const { data: me } = useQuery(meQuery);
  const page = usePathInOtherProjects();
  const { contains } = useFilter({ sensitivity: 'base' });
  const settledText = useDebounced(text);
  const queries = recordQueries(project.id, settledText);
  const results = useQueries({ queries: queries.map(({ query }) => query) });
  const isMatch = ({ name, hint }: PaletteEntry) => contains(name, text) || contains(hint, text);
  const local = [
    { name: words.palette.recent, items: readRecent(project.id).filter(isMatch) },
    { name: words.palette.pages, items: listPages(project.id).filter(isMatch) },
    { name: words.palette.actionsTitle, items: text === '' ? [] : listActions(project.id).filter(isMatch) },
    { name: words.palette.projects, items: listProjects(me?.organization ?? null, project, page).filter(isMatch) },
  ];
  const records = queries.map(({ name }, at) => ({ name, items: results[at]?.data ?? [] }));
  const seen = new Set<string>();
  const sections = [...local.slice(0, 2), ...(settledText === text ? records : []), ...local.slice(2)].map(
    (section) => ({
      ...section,
      items: section.items.filter(({ key }) => !seen.has(key) && seen.add(key)),
    }),
  );
  return {
    sections: sections.filter(({ items }) => items.length > 0),
    isSearching: settledText !== text || results.some(({ isFetching }) => isFetching),
    error: results.find(({ error }) => error !== null)?.error ?? null,
  };
}
