import { PageTitle } from '../../frame/page-title.tsx';
import { words } from '../../words.ts';
import { FirstEvent } from './first-event.tsx';
import './live.css';

export function page() {
  return (
    <>
      <PageTitle title={words.pages.live.title} />
      <FirstEvent />
    </>
  );
}
