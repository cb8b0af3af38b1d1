// Buttons, including one that copies a text.

import { type ReactNode, useState } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { words } from '../words.ts';
import { copyText } from './copy.ts';

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'children'> {
  /**
   * Each page has one button with the look `main`. The look `danger` is for actions that cannot be undone. The look
   * `plain` has no border.
   */
  look?: 'main' | 'danger' | 'plain' | undefined;
  /** Keyboard shortcut, shown next to the button's label. */
  shortcut?: string | undefined;
  children: ReactNode;
}

/** A button for an action. Its label begins with a verb. */
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

/** A button that copies a text to the clipboard, and shows whether copying succeeded. */
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
