/** A button beside a sentence of a tab. */

interface ChoiceProps {
  readonly words: string;
  readonly choose: () => void;
}

export function Choice({ words, choose }: ChoiceProps) {
  return (
    <button type="button" class="jp-mod-styled jp-mod-minimal" onClick={choose}>
      {words}
    </button>
  );
}
