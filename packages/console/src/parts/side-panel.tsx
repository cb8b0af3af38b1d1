import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { words } from '../words.ts';
import { Button } from './button.tsx';
import { focusFirst } from './focus-first.tsx';
import { Icon } from './icon.tsx';

/**
 * Shows a row's details next to the list. The panel takes the focus when it opens, and Esc closes it.
 * @param isForm whether the first field takes the focus
 * @param isOpenAlready whether the page opened the panel without a user action; if so, the focus does not move
 */
export function SidePanel({
  title,
  head,
  isForm = false,
  isOpenAlready = false,
  onClose,
  children,
}: {
  title: string;
  head?: ReactNode;
  isForm?: boolean;
  isOpenAlready?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const own = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isOpenAlready) return;
    if (!isForm || !focusFirst(own.current)) own.current?.focus();
  }, [isForm, isOpenAlready]);
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !event.defaultPrevented) onClose();
  };
  return (
    <aside className="detail" aria-label={title} ref={own} tabIndex={-1} onKeyDown={press}>
      {head ?? (
        <div className="detail-head">
          <div className="detail-title">
            <span className="grow" />
            <CloseButton onClose={onClose} />
          </div>
        </div>
      )}
      {children}
    </aside>
  );
}

export function CloseButton({ label = words.close, onClose }: { label?: string; onClose: () => void }) {
  return (
    <Button look="plain" aria-label={label} onPress={onClose}>
      <Icon name="close" size={13} />
    </Button>
  );
}

/**
 * Moves the focus back to a row when its details close.
 * @param open identifies the row by its `data-row` attribute; undefined if the list does not contain the row
 */
export function useFocusReturn(isOpen: boolean, open: string | undefined): void {
  const last = useRef<string>(undefined);
  useEffect(() => {
    if (open !== undefined) last.current = open;
    if (isOpen || last.current === undefined) return;
    const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
    rows.find(({ dataset }) => dataset.row === last.current)?.focus();
    last.current = undefined;
  }, [isOpen, open]);
}
