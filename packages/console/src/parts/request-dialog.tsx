import type { ReactNode } from 'react';
import type { ApiCall } from '../api/request.ts';
import { words } from '../words.ts';
import { Button } from './button.tsx';
import { AsApiCallButton, Dialog } from './dialog.tsx';
import { FormProblem } from './form.tsx';

/** A dialog with a form that sends one API request. Users can view the request as a terminal command. */
export function RequestDialog({
  title,
  submit,
  request,
  change,
  fields = [],
  isComplete = true,
  below,
  onClose,
  children,
}: {
  title: string;
  submit: string;
  request: ApiCall;
  change: { mutate: (request: ApiCall) => void; error: unknown; isPending: boolean };
  /** Names of the form's fields. A server error about one of these fields is shown next to it. */
  fields?: readonly string[];
  isComplete?: boolean;
  below?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(request);
        }}
      >
        {children}
        <FormProblem problem={change.error} fields={fields} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={!isComplete || change.isPending}>
            {submit}
          </Button>
          <AsApiCallButton request={request} />
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
        {below}
      </form>
    </Dialog>
  );
}
