import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { meQuery, queryClient } from '../../api/queries.ts';
import type { ApiCall } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, FormProblem } from '../../parts/form.tsx';
import { words } from '../../words.ts';
import { callWithRecentSignIn } from './recent-sign-in.tsx';
import { text } from './words.ts';

/**
 * A dialog that creates a project, an environment or an organization, and then opens it.
 * @param path the API path of the POST request
 */
export function MakeDialog({
  title,
  about,
  path,
  maxLength,
  onClose,
}: {
  title: string;
  about: string;
  path: string;
  maxLength: number;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const request: ApiCall = { method: 'POST', path, body: { name } };
  const make = useMutation({
    mutationFn: () => callWithRecentSignIn<{ id: number | string }>(request),
    onSuccess: async () => {
      // The server has made the new project, environment or organization the user's current one.
      const me = await queryClient.fetchQuery({ ...meQuery, staleTime: 0 });
      await navigate({ to: me.team ? `/projects/${me.team.id}/live` : '/' });
      // Navigation removes the dialog, which had the focus, so move the focus to the page.
      document.getElementById('content')?.focus();
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="quiet">{about}</p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <Field
          name="name"
          label={text.name}
          autoComplete="off"
          autoFocus
          maxLength={maxLength}
          value={name}
          onChange={(event) => setName(event.target.value)}
          problem={make.error}
        />
        <FormProblem problem={make.error} fields={['name']} />
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={make.isPending}>
            {text.create}
          </Button>
          <Button onPress={onClose}>{words.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
