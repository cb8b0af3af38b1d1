import { type ReactNode, useState } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { words } from '../words.ts';

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'children'> {
  /** A page has one main button; `danger` is for what cannot be undone; `plain` has no border. */
  look?: 'main' | 'danger' | 'plain' | undefined;
  /** Shown beside the words: the key that does the same. */
  shortcut?: string | undefined;
  children: ReactNode;
}

/** A verb that does something. */
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

/** Copies a text and says so. */
export function CopyButton({
  text,
  children = words.copy,
  look,
}: {
  text: string | (() => string);
  children?: ReactNode;
  look?: ButtonProps['look'];
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <Button look={look} onPress={() => void copy()}>
      <span aria-live="polite">{isCopied ? words.copied : children}</span>
    </Button>
  );
}
