// Components for settings sections: blocks with a heading, confirmations, and secrets that are shown once.

import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import type { ApiCall } from '../../api/request.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { ConfirmByTyping, matchesConfirmation } from '../../parts/confirm-by-typing.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { words } from '../../words.ts';
import { text } from './words.ts';

export function SettingsBlock({
  title,
  about,
  buttons,
  request,
  children,
}: {
  title: string;
  about?: ReactNode;
  buttons?: ReactNode;
  /** The API request that the block makes. Users can view it as a terminal command. */
  request?: ApiCall;
  children?: ReactNode;
}) {
  const id = useId();
  return (
    <section className="panel settings-block" aria-labelledby={id}>
      <header className="settings-block-head">
        <div className="grow">
          <h2 id={id}>{title}</h2>
          {about && <p className="quiet">{about}</p>}
        </div>
        <div className="form-buttons">
          {buttons}
          {request && <AsApiCallButton request={request} look="plain" />}
        </div>
      </header>
      {children}
    </section>
  );
}

/** Shows that the last action succeeded, and announces this to screen readers. */
export function SuccessMessage({ children }: { children: ReactNode }) {
  return (
    <span className="good" role="status">
      {children}
    </span>
  );
}

/** Shows a secret once. The page does not store it. */
export function OneTimeSecret({ title, value, onDone }: { title: string; value: string; onDone: () => void }) {
  return (
    <section className="panel settings-block settings-secret" aria-label={title}>
      <h2>{title}</h2>
      <p className="quiet">{text.shownOnce}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <pre className="code code-wrap" tabIndex={0} data-secret="">
        {value}
      </pre>
      <div className="form-buttons">
        <CopyButton text={value} look="main" />
        <Button onPress={onDone}>{text.kept}</Button>
      </div>
    </section>
  );
}

/**
 * A dialog that asks for confirmation before an action that cannot be undone.
 * @param act a function that performs the action; if it fails, the dialog remains open and shows the error
 * @param typed the text that the user must type to confirm; by default, typing is not required
 */
export function ConfirmationDialog({
  title,
  children,
  verb,
  act,
  typed,
  onClose,
}: {
  title: string;
  children: ReactNode;
  verb: string;
  act: () => Promise<unknown>;
  typed?: { label: string; text: string };
  onClose: () => void;
}) {
  const action = useMutation({ mutationFn: act, onSuccess: onClose });
  const [typedText, setTypedText] = useState('');
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="quiet">{children}</div>
      {typed && <ConfirmByTyping label={typed.label} expected={typed.text} value={typedText} onChange={setTypedText} />}
      <FormProblem problem={action.error} fields={[]} />
      <div className="form-buttons">
        <Button
          look="danger"
          isDisabled={action.isPending || (typed !== undefined && !matchesConfirmation(typedText, typed.text))}
          onPress={() => action.mutate()}
        >
          {verb}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}
