import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import type { ApiCall } from '../../api/request.ts';
import { Button, CopyButton } from '../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../parts/dialog.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { isTyped, TypedAgain } from '../../parts/typed-again.tsx';
import { words } from '../../words.ts';
import { text } from './words.ts';

/** A part of a section: what it is, what it does, and its form or table. */
export function Block({
  title,
  about,
  buttons,
  request,
  children,
}: {
  title: string;
  about?: ReactNode;
  buttons?: ReactNode;
  /** What it stands for, shown as a command for a terminal. */
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

/** What was done, until something else is; heard too. */
export function Done({ children }: { children: ReactNode }) {
  return (
    <span className="good" role="status">
      {children}
    </span>
  );
}

/** A secret that is seen this once: kept nowhere but on the page. */
export function ShownOnce({ title, value, onDone }: { title: string; value: string; onDone: () => void }) {
  return (
    <section className="panel settings-block settings-secret" aria-label={title}>
      <h2>{title}</h2>
      <p className="quiet">{text.shownOnce}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
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
 * Asks before what cannot be undone.
 * @param act what is done then; when it fails, the dialog stays and says why
 * @param typed what has to be typed before; absent = nothing
 */
export function Sure({
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
  const doing = useMutation({ mutationFn: act, onSuccess: onClose });
  const [given, setGiven] = useState('');
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="quiet">{children}</div>
      {typed && <TypedAgain label={typed.label} wanted={typed.text} value={given} onChange={setGiven} />}
      <FormProblem problem={doing.error} fields={[]} />
      <div className="form-buttons">
        <Button
          look="danger"
          isDisabled={doing.isPending || (typed !== undefined && !isTyped(given, typed.text))}
          onPress={() => doing.mutate()}
        >
          {verb}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}
