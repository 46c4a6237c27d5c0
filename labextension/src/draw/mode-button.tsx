/** A button of the toolbar that stays pressed while what it names is on. */

interface ModeButtonProps {
  readonly isOn: boolean;
  readonly hint: string;
  readonly label: string;
  readonly press: () => void;
}

export function ModeButton({ isOn, hint, label, press }: ModeButtonProps) {
  return (
    <button type="button" class="ckv-mode" aria-pressed={isOn} title={hint} onClick={press}>
      {label}
    </button>
  );
}
