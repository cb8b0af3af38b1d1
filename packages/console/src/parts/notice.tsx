import { words } from '../words.ts';
import { Button } from './button.tsx';

/** A message above a list, which confirms an action or reports its failure, with a button for undoing the action. */
export interface Notice {
  text: string;
  isBad?: boolean;
  undo?: () => void;
}

export function NoticeLine({ notice, onDone }: { notice: Notice | null; onDone: () => void }) {
  if (notice === null) return null;
  const { text, isBad = false, undo } = notice;
  return (
    <p className={isBad ? 'notice notice-bad' : 'notice'} role={isBad ? 'alert' : 'status'}>
      <span className="grow">{text}</span>
      {undo && (
        <Button
          look="plain"
          onPress={() => {
            onDone();
            undo();
          }}
        >
          {words.undo}
        </Button>
      )}
      <Button look="plain" onPress={onDone}>
        {words.dismiss}
      </Button>
    </p>
  );
}
