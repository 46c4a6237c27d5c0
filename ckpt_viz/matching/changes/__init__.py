"""What happened to a program since its checkpoint was written.

`kind` lists what findings and changes can be. `edges` compares how both sides lead to a part,
`in_sequences` tells inserted, removed and exchanged items, and `of_optimizers` what optimizers
keep. `reading` groups what changed alike. `emptied` finds parts that both sides have and one has
without values, `looks` parts that look alike. `deeds` reads what a person did, `phrases` puts it
into words with `short_names`, and `sentence` makes the sentence at the head of a check of them,
and that of each finding. `parts_alone` finds what one side has alone, and `shapes_in_words` words
for shapes.
"""
