// Buttons, including a button that copies text.

import { type ReactNode, useState } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { words } from '../words.ts';
import { copyText } from './copy.ts';

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'children'> {
  /**
   * Each page has one `main` button. `danger` buttons are for actions that cannot be undone. `plain` buttons do not
   * have a border.
   */
  look?: 'main' | 'danger' | 'plain' | undefined;
  shortcut?: string | undefined;
  children: ReactNode;
}

export function Button({ look, shortcut, children, ...props }: ButtonProps) {
  return (
    <AriaButton {...props} className={look ? `button button-${look}` : 'button'}>
      {children}
      {shortcut && (
        <span className="key" aria-hidden="true">
          {shortcut}
        </span>
      )}
    </AriaButton>
  );
}

/** A button that copies text to the clipboard, and shows whether copying succeeded. */
export function CopyButton({
  text,
  children = words.copy,
  look,
}: {
  text: string | (() => string);
  children?: ReactNode;
  look?: ButtonProps['look'];
}) {
  const [outcome, setOutcome] = useState<string | null>(null);
  const copy = async () => {
    const isCopied = await copyText(typeof text === 'string' ? text : text());
    setOutcome(isCopied ? words.copied : words.copyFailed);
    setTimeout(() => setOutcome(null), 2000);
  };
  return (
    <Button look={look} onPress={() => void copy()}>
      <span aria-live="polite">{outcome ?? children}</span>
    </Button>
  );
}
