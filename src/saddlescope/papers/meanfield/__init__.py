"""The mean-field limit of low-rank random-feature nets. Its experiments have their place here."""
