import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import { Button, CopyButton } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { words } from '../../words.ts';
import { text } from './words.ts';

/** A part of a section: what it is, what it does, and its form or table. */
export function Block({
  title,
  about,
  buttons,
  children,
}: {
  title: string;
  about?: ReactNode;
  buttons?: ReactNode;
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
        {buttons}
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

/** Asks before what cannot be undone. @param act what is done then; when it fails, the dialog stays and says why */
export function Sure({
  title,
  children,
  verb,
  act,
  onClose,
}: {
  title: string;
  children: ReactNode;
  verb: string;
  act: () => Promise<unknown>;
  onClose: () => void;
}) {
  const doing = useMutation({ mutationFn: act, onSuccess: onClose });
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="quiet">{children}</div>
      <FormProblem problem={doing.error} fields={[]} />
      <div className="form-buttons">
        <Button look="danger" isDisabled={doing.isPending} onPress={() => doing.mutate()}>
          {verb}
        </Button>
        <Button onPress={onClose}>{words.cancel}</Button>
      </div>
    </Dialog>
  );
}
