import { BuyButton } from './buy-button';
import { getVisitor } from './visitor';

export default async function Page() {
  const { featureFlags } = await getVisitor();
  return (
    <main>
      <h1>Corner shop</h1>
      <p>{featureFlags['new-checkout'] ? 'Checkout in one step' : 'Checkout in three steps'}</p>
      <BuyButton />
    </main>
  );
}
