import { linkTo } from './route.ts';
import { Title } from './title.tsx';

interface UnknownPageProps {
  readonly message?: string;
  /** A route. */
  readonly back: string;
  /** The target page's name. */
  readonly to: string;
}

/** A page that does not exist, with a link back. */
export function UnknownPage({ back, to, ...props }: UnknownPageProps) {
  const { message = 'The address may be mistyped, or the page has another one now.' } = props;
  return (
    <section class="card narrow">
      <Title text="There is no such page" />
      <p>{message}</p>
      <p>
        <a href={linkTo(back)}>Go to {to}</a>
      </p>
    </section>
  );
}
