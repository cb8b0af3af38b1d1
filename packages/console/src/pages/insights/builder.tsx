import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { RecordAccessDialog } from '../../access/record-access.tsx';
import { text as accessText } from '../../access/words.ts';
import { nameOfInsight, type Question, sourceOf } from '../../answers/question.ts';
import { ApiProblem } from '../../api/request.ts';
import { PageTitle } from '../../frame/page-title.tsx';
import { useProject } from '../../frame/project.ts';
import { formatPast } from '../../parts/ago.ts';
import { Button } from '../../parts/button.tsx';
import { AddressHint } from '../../parts/chips.tsx';
import { AsApiCallButton } from '../../parts/dialog.tsx';
import { AnswerPane } from './answer.tsx';
import { OnDashboards, RemoveDialog, SaveDialog } from './dialogs.tsx';
import { PersonsDialog } from './persons.tsx';
import { newQuestion, partOf, readQuestion } from './question.ts';
import { QuestionForm } from './question-form.tsx';
import { type Insight, type InsightsAddress, questionCall, useAnswer } from './view.ts';
import { text } from './words.ts';

/** A question and its answer side by side. @param stored null: it is new */
export function Builder({ stored, address }: { stored: Insight | null; address: InsightsAddress }) {
  const { view, change, unknown } = address;
  const { id } = useProject();
  const kept = stored === null ? newQuestion : (sourceOf(stored.query) ?? newQuestion);
  const written = view.question === '' ? null : readQuestion(view.question);
  const question = written ?? kept;
  const isChanged = written !== null && JSON.stringify(written) !== JSON.stringify(kept);
  const [asked, setAsked] = useState(0);
  const answer = useAnswer(question, asked);
  const [dialog, setDialog] = useState<'save' | 'copy' | 'dashboards' | 'access' | 'remove' | null>(null);
  const edit = (next: Question) => change({ question: JSON.stringify(next), persons: '' }, { replace: true });
  const problem = answer.error instanceof ApiProblem && answer.error.status === 400 ? answer.error.message : '';
  const state = stored === null ? text.unsaved : isChanged ? text.changed : text.saved;
  return (
    <>
      <PageTitle
        title={stored === null ? text.newTitle : nameOfInsight(stored)}
        now={
          <span className="pill">
            {state}
            {answer.data && ` · ${text.age(formatPast(answer.data.last_refresh))}`}
          </span>
        }
      >
        <Button onPress={() => change({ insight: '', question: '', persons: '' })}>{text.toList}</Button>
        <AsApiCallButton request={questionCall(id, question)} />
        <Button look="main" onPress={() => setDialog('save')} isDisabled={stored !== null && !isChanged}>
          {text.save}
        </Button>
      </PageTitle>
      <AddressHint unknown={unknown} />
      {view.question !== '' && written === null && (
        <p className="health-line" role="status">
          {text.badAddress}
        </p>
      )}
      <div className="panel insight">
        <div className="insight-form">
          <QuestionForm question={question} problem={{ part: partOf(problem), detail: problem }} onQuestion={edit} />
          {stored !== null && (
            <div className="form-buttons">
              <Link
                className="button button-plain"
                to={`/projects/${id}/settings/subscriptions`}
                search={{ open: 'new', insight: String(stored.id) } as never}
              >
                {text.subscribe}
              </Link>
              <Button look="plain" onPress={() => setDialog('dashboards')}>
                {text.addToDashboard}
              </Button>
              <Button look="plain" onPress={() => setDialog('access')}>
                {accessText.open}
              </Button>
              <Button look="plain" onPress={() => setDialog('copy')}>
                {text.saveAs}
              </Button>
              <Button look="plain" onPress={() => setDialog('remove')}>
                {text.remove}
              </Button>
            </div>
          )}
        </div>
        <AnswerPane
          question={question}
          answer={answer}
          onQuestion={edit}
          onAgain={() => setAsked(asked + 1)}
          onPersons={(point) => change({ persons: JSON.stringify(point) })}
        />
      </div>
      {view.persons !== '' && <PersonsDialog point={view.persons} onClose={() => change({ persons: '' })} />}
      {(dialog === 'save' || dialog === 'copy') && (
        <SaveDialog
          stored={dialog === 'copy' ? null : stored}
          name={stored?.name ?? ''}
          question={question}
          onSaved={(shortId) => {
            setDialog(null);
            change({ insight: shortId, question: '' });
          }}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'dashboards' && stored !== null && <OnDashboards stored={stored} onClose={() => setDialog(null)} />}
      {dialog === 'access' && stored !== null && (
        <RecordAccessDialog
          path={`insights/${stored.id}`}
          name={nameOfInsight(stored)}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === 'remove' && stored !== null && (
        <RemoveDialog
          stored={stored}
          onRemoved={() => change({ insight: '', question: '', persons: '' })}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
}
