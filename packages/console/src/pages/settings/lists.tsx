import { useEffect, useRef } from 'react';
import type { IconName } from '../../parts/icon.tsx';
import { EmptyState } from '../../parts/states.tsx';

/**
 * Shown instead of an empty list. Shows the available types with their requirements. Choosing a type opens the form.
 */
export function EmptyList<Kind extends string>({
  title,
  icon,
  about,
  kinds,
  isDisabled,
  onChoose,
}: {
  title: string;
  icon: IconName;
  about: string;
  kinds: readonly { kind: Kind; name: string; needs: string }[];
  isDisabled: boolean;
  onChoose: (kind: Kind) => void;
}) {
  return (
    <EmptyState title={title} icon={icon}>
      <p className="quiet">{about}</p>
      <ul className="settings-kinds">
        {kinds.map(({ kind, name, needs }) => (
          <li key={kind}>
            <button type="button" className="settings-kind" disabled={isDisabled} onClick={() => onChoose(kind)}>
              <strong>{name}</strong>
              <span className="quiet">{needs}</span>
            </button>
          </li>
        ))}
      </ul>
    </EmptyState>
  );
}

/**
 * Returns the most recently opened item, whose link takes the focus when the user returns to the list.
 * @param open the ID of the item that is open; empty while the list is shown
 */
export function useLastOpen(open: string): string {
  const last = useRef('');
  useEffect(() => {
    if (open !== '') last.current = open;
  }, [open]);
  return last.current;
}

export const takeFocus = (element: HTMLElement | null) => element?.focus();
