import { useMemo } from 'react';
import { Markdown, readPlainMarkdown } from '../../parts/markdown.tsx';

/** Renders a tile's Markdown text. */
export function TextBody({ body }: { body: string }) {
  const tokens = useMemo(() => readPlainMarkdown(body), [body]);
  return (
    <div className="board-text markdown">
      <Markdown tokens={tokens} addressOf={(target) => (/^(https?:|mailto:)/i.test(target) ? target : undefined)} />
    </div>
  );
}
