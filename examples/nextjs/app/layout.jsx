import { Analytics } from './analytics';
import { getVisitor } from './visitor';

export const metadata = { title: 'Corner shop' };

export default async function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <Analytics visitor={await getVisitor()}>{children}</Analytics>
      </body>
    </html>
  );
}
