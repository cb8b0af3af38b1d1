// The form for inviting people to the organization by email.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useId, useRef, useState } from 'react';
import { ApiProblem, call, sendsMail } from '../../../api/request.ts';
import { Button } from '../../../parts/button.tsx';
import { explainError } from '../../../parts/states.tsx';
import { words } from '../../../words.ts';
import { SettingsBlock } from '../block.tsx';
import { levels, useOrganization } from '../own-organization.ts';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { text } from './words.ts';

const { form } = text;
/** Maximum number of invites that the API accepts per request. */
const limit = 20;

export interface Invite {
  id: string;
  target_email: string;
  first_name: string;
  level: number;
  is_expired: boolean;
  emailing_attempt_made: boolean;
  /** Reason why the email was not sent. Undefined if it was sent. */
  mail_error?: string;
  send_email: boolean;
  message: string | null;
  private_project_access: { id: number; level: number }[] | null;
  created_by: { first_name: string; email: string } | null;
  created_at: string;
}

/** A new invite. The secret of its link, `token`, is returned only to requests that a session authenticates. */
export type CreatedInvite = Invite & { token?: string };

interface PrivateProject {
  id: number;
  name: string;
  access_control: boolean;
}

interface Options {
  level: number;
  message: string;
  withMail: boolean;
  /** Membership levels in private projects, by project ID. */
  grants: Record<number, number>;
}

const usualOptions = (): Options => ({ level: 1, message: '', withMail: sendsMail(), grants: {} });

/**
 * A form for inviting several people with the same level and access.
 * @param isShort whether to show only the field for email addresses
 */
export function InviteForm({
  isShort,
  onMore,
  onDone,
  onClose,
}: {
  isShort: boolean;
  onMore: () => void;
  onDone: (invites: CreatedInvite[]) => Promise<void>;
  onClose: () => void;
}) {
  const organization = useOrganization();
  const [typed, setTyped] = useState('');
  const [chosen, setOptions] = useState(usualOptions);
  // Options must not have an effect while they are hidden.
  const options = isShort ? usualOptions() : chosen;
  const { level, message, withMail, grants } = options;
  const field = useRef<HTMLTextAreaElement>(null);
  const addresses = addressesIn(typed);
  const save = useMutation({
    mutationFn: () =>
      callWithRecentSignIn<CreatedInvite[]>({
        method: 'POST',
        path: `${organization.path}/invites/bulk`,
        wantsResult: true,
        body: addresses.map((target_email) => ({
          target_email,
          level,
          send_email: withMail,
          ...(message.trim() !== '' && { message }),
          ...(level === 1 && { private_project_access: grantsOf(grants) }),
        })),
      }),
    onSuccess: onDone,
  });
  const id = useId();
  const isTooMany = addresses.length > limit;
  const wrong = isTooMany ? form.tooMany(addresses.length) : problemOf(save.error, addresses);
  const isReady = !save.isPending && addresses.length > 0 && !isTooMany;
  return (
    <SettingsBlock title={form.title} about={isShort ? undefined : form.about}>
      <form
        className="form settings-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) save.mutate();
        }}
      >
        <div className="field">
          <label className="field-label" htmlFor={id}>
            {form.addresses}
          </label>
          <textarea
            id={id}
            ref={field}
            className={`input mono ${isShort ? 'members-line' : 'members-addresses'}`}
            rows={isShort ? 1 : 4}
            spellCheck={false}
            autoComplete="off"
            value={typed}
            aria-invalid={wrong !== null}
            aria-describedby={`${id}-more`}
            onChange={({ target }) => setTyped(target.value)}
            onKeyDown={(event) => {
              if (!isShort || event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              event.currentTarget.form?.requestSubmit();
            }}
          />
          <span id={`${id}-more`} className={wrong ? 'bad' : 'hint'} role={wrong ? 'alert' : undefined}>
            {wrong ?? form.addressesHint(addresses.length)} {isShort && wrong === null && form.shortHint(sendsMail())}
          </span>
        </div>
        {!isShort && <OptionFields options={options} onOptions={setOptions} />}
        <div className="form-buttons">
          <Button type="submit" look="main" isDisabled={!isReady}>
            {form.submit(addresses.length)}
          </Button>
          {isShort ? (
            <Button
              onPress={() => {
                onMore();
                field.current?.focus();
              }}
            >
              {form.more}
            </Button>
          ) : (
            <Button onPress={onClose}>{words.cancel}</Button>
          )}
        </div>
      </form>
    </SettingsBlock>
  );
}

function OptionFields({ options, onOptions }: { options: Options; onOptions: (options: Options) => void }) {
  const organization = useOrganization();
  const { level, message, withMail, grants } = options;
  return (
    <>
      <label className="field settings-short">
        <span className="field-label">{form.level}</span>
        <select
          className="input"
          value={level}
          onChange={({ target }) => onOptions({ ...options, level: Number(target.value) })}
        >
          {levels
            .filter((one) => one <= organization.level)
            .map((one) => (
              <option key={one} value={one}>
                {text.levels[one]}
              </option>
            ))}
        </select>
        <span className="hint">{text.changeText[level]}</span>
      </label>
      <Projects level={level} grants={grants} onChange={(next) => onOptions({ ...options, grants: next })} />
      <div className="field">
        <label className="settings-choice">
          <input
            type="checkbox"
            checked={withMail}
            disabled={!sendsMail()}
            onChange={({ target }) => onOptions({ ...options, withMail: target.checked })}
          />
          {form.mail}
        </label>
        <span className="hint">{sendsMail() ? form.linkToo : form.noMail}</span>
      </div>
      {withMail && (
        <label className="field">
          <span className="field-label">{form.message}</span>
          <textarea
            className="input"
            rows={2}
            maxLength={2000}
            value={message}
            onChange={({ target }) => onOptions({ ...options, message: target.value })}
          />
        </label>
      )}
    </>
  );
}

/**
 * Fields for choosing the private projects that invited users can access. Renders nothing if the organization has no
 * private projects.
 */
function Projects({
  level,
  grants,
  onChange,
}: {
  level: number;
  grants: Record<number, number>;
  onChange: (grants: Record<number, number>) => void;
}) {
  const organization = useOrganization();
  const { data } = useQuery({
    queryKey: ['organization', organization.id, 'itself'],
    queryFn: ({ signal }) => call<{ teams: PrivateProject[] }>({ path: organization.path }, signal),
  });
  const closed = data?.teams.filter(({ access_control: isPrivate }) => isPrivate) ?? [];
  if (closed.length === 0) return null;
  return (
    <fieldset className="settings-fieldset">
      <legend className="field-label">{form.projects}</legend>
      <p className="hint">{level > 1 ? form.projectsOfAll : form.projectsHint}</p>
      {level === 1 &&
        closed.map(({ id, name }) => (
          <label key={id} className="field settings-short">
            <span>{name}</span>
            <select
              className="input"
              value={grants[id] ?? 0}
              onChange={({ target }) => onChange({ ...grants, [id]: Number(target.value) })}
            >
              <option value={0}>{form.noAccess}</option>
              {levels
                .filter((one) => one <= Math.min(8, organization.level))
                .map((one) => (
                  <option key={one} value={one}>
                    {text.levels[one]}
                  </option>
                ))}
            </select>
          </label>
        ))}
    </fieldset>
  );
}

const grantsOf = (grants: Record<number, number>) =>
  Object.entries(grants)
    .filter(([, level]) => level > 0)
    .map(([id, level]) => ({ id: Number(id), level }));

/**
 * Extracts unique email addresses from text that was pasted from an email or a table, such as `Grace
 * <grace@example.com>, alan@example.com`.
 */
function addressesIn(typed: string): string[] {
  const found = typed
    .split(/[\n,;]+/)
    .map((piece) => (/<([^<>]+)>/.exec(piece)?.[1] ?? piece).trim())
    .filter((piece) => piece !== '');
  return [...new Map(found.map((address) => [address.toLowerCase(), address])).values()];
}

/** Returns the error message for an invalid invite. The API names the invite's index in the list: `3__target_email`. */
function problemOf(problem: unknown, addresses: readonly string[]): string | null {
  if (!problem) return null;
  const place = problem instanceof ApiProblem ? /^(\d+)__/.exec(problem.attr ?? '')?.[1] : undefined;
  const address = place === undefined ? undefined : addresses[Number(place)];
  return address === undefined ? explainError(problem) : form.wrongOf(address, explainError(problem));
}
