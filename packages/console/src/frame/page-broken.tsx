import { Button } from '../parts/button.tsx';
import { words } from '../words.ts';

/** Instead of a white page. A part that cannot be loaded is of a version that was replaced while the page was open. */
export function PageBroken({ error }: { error: unknown }) {
  const message = error instanceof Error ? error.message : String(error);
  const isOutdated = /dynamically imported module|importing a module|Failed to fetch|preload/i.test(message);
  return (
    <div className="state" data-state="failed" role="alert">
      <h2>{isOutdated ? words.states.newVersionTitle : words.states.brokenTitle}</h2>
      <p className="quiet">{isOutdated ? words.states.newVersion : message}</p>
      <Button look="main" onPress={() => location.reload()}>
        {words.reload}
      </Button>
    </div>
  );
}
