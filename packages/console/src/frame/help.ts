import { useLocation } from '@tanstack/react-router';
import { consolePath } from '../api/request.ts';
import { sections } from '../pages/settings/sections.ts';
import { pages } from '../pages.ts';

/** Where a document of the version that runs is shown. @param path as source code cites it: `docs/flags.md#holdouts` */
export const documentAddress = (path: string) => consolePath + path.replace(/\.md(?=#|$)/, '');

/** The document that explains the page that is open. */
export function useHelpAddress(): string {
  const [, , , page, section] = useLocation().pathname.split('/');
  const ofPage = pages.find(({ path }) => path === page)?.help;
  const ofSection = page === 'settings' ? sections.find(({ path }) => path === section)?.help : undefined;
  return documentAddress(ofSection ?? ofPage ?? 'docs');
}
