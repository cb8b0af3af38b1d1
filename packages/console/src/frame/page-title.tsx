import type { ReactNode } from 'react';
import { useHealth } from '../api/queries.ts';
import { words } from '../words.ts';
import { useHelpAddress } from './help.ts';
import { useProject } from './project.ts';

/** Top of a page: its title, what is true now, and at most three buttons, one of them main. */
export function PageTitle({ title, now, children }: { title: string; now?: ReactNode; children?: ReactNode }) {
  const { data } = useHealth(useProject().id);
  const seconds = data?.visible_after_seconds;
  return (
    <header className="title">
      <h1>{title}</h1>
      {now}
      <div className="title-buttons">
        <a className="button" href={useHelpAddress()} target="_blank" rel="noopener noreferrer">
          {words.docs.help}
          <span className="only-heard"> {words.docs.newWindow}</span>
        </a>
        {typeof seconds === 'number' && !data?.alarm && (
          <span className="pill pill-good">
            <span className="dot" />
            {words.visibleAfter(seconds)}
          </span>
        )}
        {children}
      </div>
    </header>
  );
}
