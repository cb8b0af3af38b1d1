import { type ReactNode, useEffect, useRef } from 'react';
import type { IconName } from '../../parts/icon.tsx';
import { Empty } from '../../parts/states.tsx';

/** Where a list of what is made here is still empty: the kinds there are, with what each needs, and the way to the first one. */
export function NoneYet({
  title,
  icon,
  about,
  kinds,
  children,
}: {
  title: string;
  icon: IconName;
  about: string;
  kinds: readonly { name: string; needs: string }[];
  /** Its button. */
  children: ReactNode;
}) {
  return (
    <Empty title={title} icon={icon}>
      <p className="quiet">{about}</p>
      <dl className="settings-kinds">
        {kinds.map(({ name, needs }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="quiet">{needs}</dd>
          </div>
        ))}
      </dl>
      <div className="form-buttons">{children}</div>
    </Empty>
  );
}

/** The entry of a list that was open last: its link takes the focus when the list is back. @param open '' = the list */
export function useLastOpen(open: string): string {
  const last = useRef('');
  useEffect(() => {
    if (open !== '') last.current = open;
  }, [open]);
  return last.current;
}

/** For a `ref`. */
export const takeFocus = (element: HTMLElement | null) => element?.focus();
