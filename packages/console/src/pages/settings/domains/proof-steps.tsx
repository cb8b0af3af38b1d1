// The steps for proving that the organization owns an email domain.

import { useMutation } from '@tanstack/react-query';
import { queryClient } from '../../../api/queries.ts';
import { useProject } from '../../../frame/project.ts';
import { Button, CopyButton } from '../../../parts/button.tsx';
import { FormProblem } from '../../../parts/form.tsx';
import { formatClock } from '../../../parts/time.ts';
import { SettingsBlock } from '../block.tsx';
import { useOrganization } from '../own-organization.ts';
import { callWithRecentSignIn } from '../recent-sign-in.tsx';
import { text } from './words.ts';

const { steps } = text;

export interface Domain {
  id: string;
  domain: string;
  is_verified: boolean;
  verified_at: string | null;
  verification_challenge: string;
  jit_provisioning_enabled: boolean;
  sso_enforcement: string;
  has_saml: boolean;
  saml_entity_id: string | null;
  saml_acs_url: string | null;
  saml_x509_cert: string | null;
}

interface Check {
  outcome: 'shown' | 'not shown' | 'no answer';
  name: string;
  servers: string[];
  found: string[];
  error: string | null;
}

/** Guides the user through three steps: open the DNS settings, copy the DNS record, verify. Shows the DNS response. */
export function ProofSteps({
  domain,
  mayVerify,
  onClose,
}: {
  domain: Domain;
  mayVerify: boolean;
  onClose: () => void;
}) {
  const organization = useOrganization();
  const verify = useMutation({
    mutationFn: async () => {
      const path = `${organization.path}/domains/${domain.id}/verify`;
      const { check } = await callWithRecentSignIn<{ check: Check }>({
        method: 'POST',
        path,
        body: {},
        wantsResult: true,
      });
      return { ...check, at: new Date().toISOString() };
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['organization', organization.id, 'domains'] }),
  });
  return (
    <SettingsBlock title={steps.title(domain.domain)} buttons={<Button onPress={onClose}>{steps.close}</Button>}>
      <ol className="domain-steps">
        <li>{steps.first(domain.domain)}</li>
        <li>
          {steps.second}
          <Record domain={domain} />
        </li>
        <li>
          {steps.third}
          <div className="form-buttons">
            <Button
              look="main"
              isDisabled={!mayVerify || verify.isPending || domain.is_verified}
              onPress={() => verify.mutate()}
            >
              {verify.isPending ? steps.verifying : steps.verify}
            </Button>
            {!mayVerify && <span className="hint">{text.onlyAdministrators}</span>}
            {domain.is_verified && <span className="pill pill-good">{text.states.proved}</span>}
          </div>
          <FormProblem problem={verify.error} fields={[]} />
          {verify.data && <Checked {...verify.data} />}
        </li>
      </ol>
    </SettingsBlock>
  );
}

function Record({ domain: { domain, verification_challenge: challenge } }: { domain: Domain }) {
  const name = `_millrace-challenge.${domain}`;
  return (
    <dl className="facts domain-record">
      <div>
        <dt>{steps.type}</dt>
        <dd className="mono">TXT</dd>
      </div>
      <div>
        <dt>{steps.recordName}</dt>
        <dd className="mono">
          <span>{name}</span>
          <CopyButton text={name}>{steps.copyName}</CopyButton>
        </dd>
      </div>
      <div>
        <dt>{steps.value}</dt>
        <dd className="mono">
          <span>{challenge}</span>
          <CopyButton text={challenge}>{steps.copyValue}</CopyButton>
        </dd>
      </div>
    </dl>
  );
}

const looks = { shown: 'good', 'not shown': 'warn', 'no answer': 'bad' } as const;

function Checked({ outcome, name, servers, found, error, at }: Check & { at: string }) {
  const { timezone } = useProject();
  const sentence = {
    shown: text.check.shown,
    'not shown': text.check.notShown(found.length),
    'no answer': text.check.noResponse,
  }[outcome];
  return (
    <section className="domain-check" aria-label={text.check.title}>
      <p className={looks[outcome]} role="status">
        {sentence}
      </p>
      <dl className="facts domain-record">
        <div>
          <dt>{text.check.query}</dt>
          <dd className="mono">{text.check.txtOf(name)}</dd>
        </div>
        <div>
          <dt>{text.check.ofWhom}</dt>
          <dd className="mono">{servers.join(', ') || text.check.systemServers}</dd>
        </div>
        <div>
          <dt>{text.check.at}</dt>
          <dd className="mono">{formatClock(at, timezone)}</dd>
        </div>
        <div>
          <dt>{text.check.came}</dt>
          <dd className="mono">
            {found.length === 0 ? (
              text.check.nothing(error ?? '')
            ) : (
              <ul>
                {found.map((value) => (
                  <li key={value}>“{value}”</li>
                ))}
              </ul>
            )}
          </dd>
        </div>
      </dl>
    </section>
  );
}
