enum Key { Started = "turn.started" }
export default async () => ({ events: { [Key.Started]: (): void => {} } });
