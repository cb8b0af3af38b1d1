import { useQuery } from '@tanstack/react-query';
import { type ApiCall, call, getRequestPath } from '../../../api/request.ts';
import { Button } from '../../../parts/button.tsx';
import { AsApiCallButton, Dialog } from '../../../parts/dialog.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { words } from '../../../words.ts';
import { text } from './words.ts';

interface ShownReport {
  subject: string;
}

/**
 * Shows a preview of an emailed report. The preview is in an iframe, because the email has its own styles and must not
 * run scripts.
 */
export function ReportDialog({
  title,
  request,
  next,
  onClose,
}: {
  title: string;
  request: ApiCall;
  /** A button for the next step. Pressing it also closes the dialog. */
  next?: { verb: string; act: () => void };
  onClose: () => void;
}) {
  const page = { ...request, query: { ...request.query, format: 'html' } };
  // Request the report here as well, because an iframe does not report errors.
  const query = useQuery({
    queryKey: ['report', request],
    queryFn: async ({ signal }) => {
      const response = await call<ShownReport & { report?: ShownReport | null }>(request, signal);
      return response.report === undefined ? response : response.report;
    },
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="report">
        <QueryContent query={query} what={text.report}>
          {(report) =>
            report === null ? (
              <p className="quiet">{text.noReport}</p>
            ) : (
              <>
                <p>
                  <span className="quiet">{text.subject}</span> {report.subject}
                </p>
                <iframe className="report-page" title={text.report} src={getRequestPath(page)} />
              </>
            )
          }
        </QueryContent>
      </div>
      <div className="form-buttons">
        {next && (
          <Button
            look="main"
            onPress={() => {
              onClose();
              next.act();
            }}
          >
            {next.verb}
          </Button>
        )}
        <Button look={next ? undefined : 'main'} onPress={onClose}>
          {words.close}
        </Button>
        <AsApiCallButton request={request} />
      </div>
    </Dialog>
  );
}
